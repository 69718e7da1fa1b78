// The anchors of an HTML page that lists files, read tolerantly: real index pages are written by
// many hands. One pass, so that no page takes longer than its size says. Pure; used by whoever
// reads an index of wheels.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::web {

struct Anchor {
  std::string href;                              // as written, entities resolved
  bool yanked = false;                           // PEP 592: withdrawn, not to be installed
  std::optional<std::string> requires_python{};  // PEP 503
  std::optional<std::string> core_metadata{};    // PEP 714: "true", or the hash of METADATA
};
struct Links {
  // What the hrefs are relative to: the page's <base href>, if one comes before the first anchor,
  // else the address that the page was read from.
  std::string base;
  std::vector<Anchor> anchors;
};
// Reads the anchors in order of appearance, in UTF-8 whatever the page's bytes are. Skips comments
// and scripts. Leaves out an anchor that has no href, is cut off, or has a quote that is never
// closed. Reads at most 500,000 anchors. `work` grows by the bytes that were looked at.
Links read_links(std::string_view page_url, std::string_view html, std::size_t* work = nullptr);

// RFC 3986 section 5.2 for http(s) bases: absolute, "//host/...", "/path", "relative", "../up".
// nullopt if the result is no http(s) URL. Not Boost.URL's: in
// 1.81 it turns the "%2B" of a path into "+", which object stores take for a space, and keeps "/.."
// at the root.
std::optional<std::string> resolve_url(std::string_view base, std::string_view href);

}  // namespace nightjar::web
