#include "web/anchors.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "storage/base/foreign_text.hpp"
#include "web/text.hpp"

namespace nightjar::web {
namespace {

constexpr std::size_t longest_value = 16'384;  // of an attribute; a longer one breaks its tag
constexpr std::size_t longest_entity = 12;
constexpr std::size_t most_anchors = 500'000;
constexpr std::string_view spaces = " \t\n\r\f\v";

bool is_space(char c) {
  return spaces.find(c) != spaces.npos;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  return text.substr(0, text.find_last_not_of(spaces) + 1);
}

void append_utf8(std::string& text, std::uint32_t point) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xC0 | point >> 6);
  } else {
    if (point < 0x10000) {
      add(0xE0 | point >> 12);
    } else {
      add(0xF0 | point >> 18);
      add(0x80 | (point >> 12 & 0x3F));
    }
    add(0x80 | (point >> 6 & 0x3F));
  }
  add(0x80 | (point & 0x3F));
}

// Bytes that are no UTF-8 are taken for Latin-1.
std::string in_utf8(std::string_view page) {
  if (std::string valid = valid_utf8(page); valid == page) return valid;
  std::string converted;
  for (const char c : page) append_utf8(converted, static_cast<unsigned char>(c));
  return converted;
}

// Returns the character for the text between "&" and ";". nullopt for a name that URLs do not need.
std::optional<std::uint32_t> code_point(std::string_view entity) {
  using Named = std::pair<std::string_view, std::uint32_t>;
  static constexpr std::array<Named, 5> known{
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const auto& [name, point] : known)
    if (entity == name) return point;
  if (!entity.starts_with('#')) return std::nullopt;
  entity.remove_prefix(1);
  const bool is_hex = entity.starts_with('x') || entity.starts_with('X');
  entity.remove_prefix(is_hex ? 1 : 0);
  std::uint32_t point = 0;
  const char* end = entity.data() + entity.size();
  const auto read = std::from_chars(entity.data(), end, point, is_hex ? 16 : 10);
  const bool is_point = read.ec == std::errc() && read.ptr == end && point > 0 &&
                        point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
  return is_point ? std::optional(point) : std::nullopt;
}

std::string without_entities(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i + 1, longest_entity);
    const auto end = text[i] == '&' ? rest.find(';') : rest.npos;
    const auto point = end == rest.npos ? std::nullopt : code_point(rest.substr(0, end));
    if (!point) {
      plain += text[i];
      continue;
    }
    append_utf8(plain, *point);
    i += end + 1;
  }
  return plain;
}

// Goes over a page once: it never returns to a byte before where it is. A quote that is never
// closed ends where the next anchor begins or ends, and reading goes on there.
class Scanner {
 public:
  explicit Scanner(std::string_view html) : html_(html) {}

  std::vector<Anchor> read() {
    while (anchors_.size() < most_anchors && skip_past("<")) {
      if (is_at("!--"))
        skip_past("-->");
      else if (at_ < html_.size() && is_letter(html_[at_]))
        read_tag();
    }
    return std::move(anchors_);
  }
  // The href of the first <base> before any anchor; empty if there is none.
  const std::string& base() const { return base_; }
  std::size_t work() const { return work_; }

 private:
  bool is_at(std::string_view text) const { return html_.substr(at_, text.size()) == text; }
  char here() const { return html_[at_]; }
  bool is_done() const { return at_ >= html_.size(); }
  void go(std::size_t to) {
    work_ += to - at_;
    at_ = to;
  }

  bool skip_past(std::string_view text) {
    const auto found = html_.find(text, at_);
    go(found == html_.npos ? html_.size() : found + text.size());
    return found != html_.npos;
  }

  std::string_view take_until(std::string_view ends) {
    const std::size_t begin = at_;
    go(std::min(html_.find_first_of(ends, at_), html_.size()));
    return html_.substr(begin, at_ - begin);
  }

  void skip_spaces() { go(std::min(html_.find_first_not_of(spaces, at_), html_.size())); }

  // What a script or a style holds is no markup.
  void skip_content(std::string_view name) {
    while (skip_past("</"))
      if (lower_case(html_.substr(at_, name.size())) == name) return;
  }

  void read_tag() {
    const std::string name = lower_case(take_until(" \t\n\r\f\v/><"));
    Anchor anchor;
    bool has_href = false;
    while (true) {
      while (!is_done() && (is_space(here()) || here() == '/')) go(at_ + 1);
      if (is_done() || here() == '<') return;  // cut off
      if (here() == '>') break;
      const std::string attribute = lower_case(take_until(" \t\n\r\f\v/><="));
      skip_spaces();
      std::optional<std::string> value = std::string();
      if (!is_done() && here() == '=') value = read_value(attribute.empty());
      if (!value) return;
      if (name == "base" && attribute == "href" && base_.empty() && anchors_.empty())
        base_ = trimmed(*value);
      if (name == "a") take(attribute, *std::move(value), anchor, has_href);
    }
    if (has_href) anchors_.push_back(std::move(anchor));
    if (name == "script" || name == "style") skip_content(name);
  }

  // nullopt if it has no end. An "=" without a name before it is passed over.
  std::optional<std::string> read_value(bool is_nameless) {
    go(at_ + 1);
    if (is_nameless) return std::string();
    skip_spaces();
    if (is_done()) return std::nullopt;
    const char quote = here();
    if (quote != '"' && quote != '\'') return without_entities(take_until(" \t\n\r\f\v>"));
    go(at_ + 1);
    const std::size_t begin = at_;
    for (; !is_done() && here() != quote; go(at_ + 1))
      if (here() == '<' && begins_anchor(html_.substr(at_, 3))) return std::nullopt;
    if (is_done()) return std::nullopt;
    const std::string_view raw = html_.substr(begin, at_ - begin);
    go(at_ + 1);
    if (raw.size() > longest_value) return std::nullopt;
    return without_entities(raw);
  }

  static bool begins_anchor(std::string_view tag) {
    return tag.size() == 3 &&
           ((lower_case(tag.substr(0, 2)) == "<a" && is_space(tag[2])) || lower_case(tag) == "</a");
  }

  static void take(std::string_view attribute, std::string value, Anchor& anchor, bool& has_href) {
    if (attribute == "href" && !has_href) {
      anchor.href = trimmed(value);
      has_href = true;
    } else if (attribute == "data-yanked") {
      anchor.yanked = true;
    } else if (attribute == "data-requires-python") {
      anchor.requires_python = std::move(value);
    } else if (attribute == "data-core-metadata" || attribute == "data-dist-info-metadata") {
      anchor.core_metadata = std::move(value);
    }
  }

  const std::string_view html_;
  std::size_t at_ = 0, work_ = 0;
  std::vector<Anchor> anchors_;
  std::string base_;
};

bool is_scheme(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

// "/a/./b/../c" to "/a/c".
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  bool folder = false;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    folder = part.empty() || part == "." || part == "..";
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!folder) {
      kept.push_back(part);
    }
  }
  std::string result;
  for (const std::string_view part : kept) result.append("/").append(part);
  return folder || result.empty() ? result + "/" : result;
}

}  // namespace

Links read_links(std::string_view page_url, std::string_view html, std::size_t* work) {
  std::string page = in_utf8(html);
  std::replace(page.begin(), page.end(), '\0', ' ');
  Scanner scanner(page);
  Links links{std::string(page_url), scanner.read()};
  if (!scanner.base().empty())
    links.base = resolve_url(page_url, scanner.base()).value_or(links.base);
  if (work) *work += scanner.work();
  return links;
}

std::optional<std::string> resolve_url(std::string_view base, std::string_view href) {
  const auto colon = href.find(':');
  if (colon != std::string_view::npos && is_scheme(href.substr(0, colon))) {
    if (href.starts_with("http://") || href.starts_with("https://")) return std::string(href);
    return std::nullopt;
  }
  base = base.substr(0, base.find_first_of("?#"));
  const auto scheme_end = base.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  if (href.starts_with("//"))
    return std::string(base.substr(0, scheme_end + 1)) + std::string(href);
  const auto host_end = base.find('/', scheme_end + 3);
  const std::string origin(base.substr(0, host_end));
  std::string folder(host_end == std::string_view::npos ? "/" : base.substr(host_end));
  folder.resize(folder.rfind('/') + 1);
  const std::string_view path = href.substr(0, href.find_first_of("?#"));
  const std::string_view tail = href.substr(path.size());
  if (path.empty()) return std::nullopt;  // the page itself
  return origin +
         without_dots(path.starts_with('/') ? std::string(path) : folder + std::string(path)) +
         std::string(tail);
}

}  // namespace nightjar::web
