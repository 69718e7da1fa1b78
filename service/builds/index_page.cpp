#include "service/builds/index_page.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "service/builds/wheel_name.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/model/address.hpp"
#include "web/anchors.hpp"

namespace nightjar::service {

namespace {

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
  const web::Links links = web::read_links(page_url, html);
  const std::string page_shown = one_line(shown_url(page_url));
  if (links.anchors.empty())
    throw std::runtime_error(page_shown + " has no links: this is no index of wheels");
  IndexPage page;
  for (const web::Anchor& anchor : links.anchors) {
    const auto fragment_at = std::min(anchor.href.find('#'), anchor.href.size());
    const std::string fragment = anchor.href.substr(std::min(fragment_at + 1, anchor.href.size()));
    const std::string href = anchor.href.substr(0, fragment_at);
    std::string problem;
    auto wheel = select_wheel(file_name_of(href), wanted, problem);
    if (wheel && !anchor.yanked) {
      const auto url = web::resolve_url(links.base, href);
      bool broken_hash = false;
      wheel->sha256 = hash_of(fragment, broken_hash);
      // A build's address is shown, so that it may tell no secret.
      if (!url || shown_url(*url).size() < url->substr(0, url->find_first_of("?#")).size() ||
          one_line(*url) != *url)
        problem = in_quotes(shown_url(anchor.href)) + " is no URL that can be fetched";
      if (broken_hash) problem = in_quotes(shown_url(anchor.href)) + " has a broken SHA-256";
      wheel->url = url.value_or("");
      if (problem.empty()) page.wheels.push_back(std::move(*wheel));
    }
    if (!problem.empty()) page.problems.push_back(page_shown + ": " + problem);
  }
  page.wheels = in_order(std::move(page.wheels));
  if (page.wheels.empty())
    page.problems.push_back(page_shown + ": lists no nightly of " + wanted.package + " for " +
                            wanted.variant + " and " + wanted.python_tag);
  return page;
}

}  // namespace nightjar::service
