// The anchors of a PEP 503 page, read tolerantly: real index pages are written by many hands. Pure;
// used by IndexSource.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/builds/build_source.hpp"

namespace nightjar::service {

struct Anchor {
  std::string href;     // as written, entities resolved
  bool yanked = false;  // PEP 592: withdrawn, not to be installed
};
// In order of appearance, in UTF-8 whatever the page's bytes are. Comments and scripts are skipped.
// An anchor is left out if it has no href, is cut off, or has a quote that is never closed.
std::vector<Anchor> read_anchors(std::string_view html);

// RFC 3986 section 5.2 for http(s) bases: absolute, "//host/...", "/path", "relative", "../up".
// nullopt if the result is no http(s) URL. Not Boost.URL's: in 1.81 it turns the "%2B" of a path
// into
// "+", which object stores take for a space, and keeps "/.." at the root.
std::optional<std::string> resolve_url(std::string_view base, std::string_view href);

struct IndexPage {
  std::vector<ListedWheel> wheels;    // as BuildSource::list() promises
  std::vector<std::string> problems;  // broken entries, one line each
};
// `page_url` is what hrefs are relative to. Throws std::runtime_error that names it if this is no
// page that lists files at all: an empty one, an error in disguise.
IndexPage read_index_page(std::string_view page_url, std::string_view html,
                          const WantedWheels& wanted);

// Oldest first; of several versions on one date the one with the highest base, of equal versions
// the first. What BuildSource::list() promises, for any source.
std::vector<ListedWheel> in_order(std::vector<ListedWheel> wheels);
// The wheel that `file_name` names, without url: nullopt if it is of another variant, Python or
// platform, or no nightly. `problem` is set if it is not a wheel name at all.
std::optional<ListedWheel> select_wheel(std::string_view file_name, const WantedWheels& wanted,
                                        std::string& problem);

}  // namespace nightjar::service
