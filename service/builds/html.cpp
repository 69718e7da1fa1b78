#include <array>
#include <charconv>
#include <utility>

#include "service/builds/index_page.hpp"

namespace nightjar::service {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

bool starts_with_folded(std::string_view text, std::string_view lower_case) {
  if (text.size() < lower_case.size()) return false;
  for (std::size_t i = 0; i < lower_case.size(); ++i)
    if (lower(text[i]) != lower_case[i]) return false;
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Walks over a page; every take_...() leaves `rest` behind what it took.
struct Scanner {
  std::string_view rest;

  void skip_space() {
    while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  }
  void skip_past(std::string_view end) {
    const auto at = rest.find(end);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + end.size());
  }
  // Up to a character of `ends`, in lower case.
  std::string take_name(std::string_view ends) {
    std::string name;
    while (!rest.empty() && !is_space(rest.front()) &&
           ends.find(rest.front()) == std::string_view::npos) {
      name.push_back(lower(rest.front()));
      rest.remove_prefix(1);
    }
    return name;
  }
  // False if the quote is never closed: it would swallow the anchors that follow.
  bool take_value(std::string& value) {
    if (rest.empty()) return false;
    const char quote = rest.front();
    if (quote != '"' && quote != '\'') {
      while (!rest.empty() && !is_space(rest.front()) && rest.front() != '>') {
        value.push_back(rest.front());
        rest.remove_prefix(1);
      }
      return true;
    }
    const auto end = rest.find(quote, 1);
    if (end == std::string_view::npos) return false;
    const std::string_view inside = rest.substr(1, end - 1);
    if (inside.find("<a ") != std::string_view::npos ||
        inside.find("</a") != std::string_view::npos)
      return false;
    value = inside;
    rest.remove_prefix(end + 1);
    return true;
  }
  // The attributes of an anchor, up to and including '>'. nullopt for one that is broken or has no
  // href.
  std::optional<Anchor> take_anchor() {
    Anchor anchor;
    bool has_href = false;
    for (;;) {
      skip_space();
      if (rest.empty() || rest.front() == '<') return std::nullopt;
      if (rest.front() == '>') break;
      const std::string name = take_name("=></");
      skip_space();
      std::string value;
      if (!rest.empty() && rest.front() == '=') {
        rest.remove_prefix(1);
        skip_space();
        if (!take_value(value)) {
          if (!rest.empty()) rest.remove_prefix(1);
          return std::nullopt;
        }
      } else if (name.empty()) {
        rest.remove_prefix(1);  // a lone '/'
        continue;
      }
      if (name == "href" && !has_href) {
        has_href = true;
        anchor.href = resolve_entities(trim(value));
      }
      anchor.yanked |= name == "data-yanked";
    }
    rest.remove_prefix(1);
    return has_href ? std::optional(anchor) : std::nullopt;
  }
};

void append_utf8(std::string& text, unsigned long code) {
  const auto put = [&](unsigned long byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  }
}

// What "&name;" stands for, appended; false if it is unknown.
bool append_entity(std::string& text, std::string_view name) {
  constexpr std::array<std::pair<std::string_view, char>, 6> named = {
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}, {"plus", '+'}}};
  for (const auto& [known, character] : named)
    if (name == known) {
      text.push_back(character);
      return true;
    }
  if (!name.starts_with('#')) return false;
  name.remove_prefix(1);
  const int base = name.starts_with('x') || name.starts_with('X') ? 16 : 10;
  if (base == 16) name.remove_prefix(1);
  unsigned long code = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, code, base);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (parsed.ec != std::errc() || parsed.ptr != end || code == 0 || code > 0x10FFFF || surrogate)
    return false;
  append_utf8(text, code);
  return true;
}

}  // namespace

std::string resolve_entities(std::string_view text) {
  std::string resolved;
  while (!text.empty()) {
    const auto end = text.front() == '&' ? text.substr(0, 12).find(';') : std::string_view::npos;
    if (end != std::string_view::npos && append_entity(resolved, text.substr(1, end - 1))) {
      text.remove_prefix(end + 1);
    } else {
      resolved.push_back(text.front());
      text.remove_prefix(1);
    }
  }
  return resolved;
}

std::vector<Anchor> read_anchors(std::string_view html) {
  std::vector<Anchor> anchors;
  Scanner scanner{html};
  for (;;) {
    const auto at = scanner.rest.find('<');
    if (at == std::string_view::npos) return anchors;
    scanner.rest.remove_prefix(at + 1);
    if (scanner.rest.starts_with("!--")) {
      scanner.skip_past("-->");
    } else if (starts_with_folded(scanner.rest, "script")) {
      scanner.skip_past("</script");
    } else if (starts_with_folded(scanner.rest, "a") && scanner.rest.size() > 1 &&
               is_space(scanner.rest[1])) {
      scanner.rest.remove_prefix(1);
      if (auto anchor = scanner.take_anchor()) anchors.push_back(std::move(*anchor));
    }
  }
}

}  // namespace nightjar::service
