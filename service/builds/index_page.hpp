// A PEP 503 page as the wheels that it lists. Pure; used by IndexSource.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/builds/build_source.hpp"

namespace nightjar::service {

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
