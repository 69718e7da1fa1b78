// A line of METADATA that requires a package. What is read of it has no byte that could be an
// option, a path, a URL or another line, and reads the same again.
#include "service/builds/requirement.hpp"

#include <algorithm>

#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {

void requirement(std::string_view input) {
  const auto read = service::Requirement::parse(input);
  if (!read) {
    const std::string said = service::unreadable_requirement(input);
    require(said.size() < 300, "foreign text fills a reason");
    require(std::all_of(said.begin(), said.end(), [](char c) { return c >= ' ' && c <= '~'; }),
            "a reason has control characters");
    return;
  }
  const std::string& text = read->text();
  require(text.find_first_of("@:/\\#$%&?`'|{}\n\r\t") == text.npos, "a requirement has more");
  require(text.front() != '-' && text.front() != '.', "a requirement is an option or a path");
  require(service::Requirement::parse(text) == read, "a requirement changes when it is written");
}

}  // namespace nightjar::fuzz
