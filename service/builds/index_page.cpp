#include "service/builds/index_page.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "service/builds/wheel_name.hpp"

namespace nightjar::service {

namespace {

bool is_scheme(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
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

std::string in_quotes(std::string_view text) {
  return std::string("'").append(text).append("'");
}

// The hash of "sha256=<64 hex>"; nullopt for another fragment. `broken` if it is meant to be one.
std::optional<Sha256> hash_of(std::string_view fragment, bool& broken) {
  constexpr std::string_view name = "sha256=";
  if (!fragment.starts_with(name)) return std::nullopt;
  const auto hash = Sha256::parse(fragment.substr(name.size()));
  broken = !hash;
  return hash;
}

// Numbers compare as numbers, 2.9 before 2.10, and 2.9 equals 2.9.0.
std::vector<int> comparable(const std::string& version) {
  const auto parsed = parse_version(version);
  std::vector<int> base = parsed ? parsed->base : std::vector<int>{};
  while (!base.empty() && base.back() == 0) base.pop_back();
  return base;
}

// PyTorch's nightlies always name their variant; those of other packages may have just one.
bool is_of_variant(const WheelName& name, const WantedWheels& wanted) {
  const std::string variant = local_parts(name.version.variant).variant;
  const bool has_one_only = variant.empty() && wanted.package != "torch";
  return variant == wanted.variant || has_one_only;
}

}  // namespace

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

std::optional<ListedWheel> select_wheel(std::string_view file_name, const WantedWheels& wanted,
                                        std::string& problem) {
  const std::string distribution(file_name.substr(0, file_name.find('-')));
  if (normalized_name(distribution) != normalized_name(wanted.package) ||
      !file_name.ends_with(".whl"))
    return std::nullopt;
  const auto name = parse_wheel_name(file_name);
  if (!name) {
    problem = in_quotes(file_name) + " is no wheel name with a version that we understand";
    return std::nullopt;
  }
  if (!is_of_variant(*name, wanted) || name->version.date.empty() || !name->fits(wanted.python_tag))
    return std::nullopt;
  ListedWheel wheel;
  wheel.file_name = file_name;
  wheel.version = name->version.text;
  wheel.variant = wanted.variant;
  wheel.date = name->version.date;
  return wheel;
}

std::vector<ListedWheel> in_order(std::vector<ListedWheel> wheels) {
  std::stable_sort(wheels.begin(), wheels.end(), [](const ListedWheel& a, const ListedWheel& b) {
    if (a.date != b.date) return a.date < b.date;
    return comparable(a.version) > comparable(b.version);
  });
  const auto same_date = [](const ListedWheel& a, const ListedWheel& b) {
    return a.date == b.date;
  };
  wheels.erase(std::unique(wheels.begin(), wheels.end(), same_date), wheels.end());
  return wheels;
}

IndexPage read_index_page(std::string_view page_url, std::string_view html,
                          const WantedWheels& wanted) {
  const std::vector<Anchor> anchors = read_anchors(html);
  if (anchors.empty())
    throw std::runtime_error(std::string(page_url) + " has no links: this is no index of wheels");
  IndexPage page;
  for (const Anchor& anchor : anchors) {
    const auto fragment_at = std::min(anchor.href.find('#'), anchor.href.size());
    const std::string fragment = anchor.href.substr(std::min(fragment_at + 1, anchor.href.size()));
    const std::string href = anchor.href.substr(0, fragment_at);
    std::string problem;
    auto wheel = select_wheel(file_name_of(href), wanted, problem);
    if (wheel && !anchor.yanked) {
      const auto url = resolve_url(page_url, href);
      bool broken_hash = false;
      wheel->sha256 = hash_of(fragment, broken_hash);
      if (!url) problem = in_quotes(anchor.href) + " is no URL that can be fetched";
      if (broken_hash) problem = in_quotes(anchor.href) + " has a broken SHA-256";
      wheel->url = url.value_or("");
      if (problem.empty()) page.wheels.push_back(std::move(*wheel));
    }
    if (!problem.empty()) page.problems.push_back(std::string(page_url) + ": " + problem);
  }
  page.wheels = in_order(std::move(page.wheels));
  if (page.wheels.empty())
    page.problems.push_back(std::string(page_url) + ": lists no nightly of " + wanted.package +
                            " for " + wanted.variant + " and " + wanted.python_tag);
  return page;
}

}  // namespace nightjar::service
