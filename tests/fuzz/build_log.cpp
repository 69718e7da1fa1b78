// What compilers and recipes print: of any bytes, one line tells why the build failed.
#include "runner/make/build_failure.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {

void build_log(std::string_view input) {
  const std::string line = runner::telling_line(input, "/usr/include");
  require(!input.empty() || !line.empty(), "an empty log is told by nothing");
  require(line.find('\n') == line.npos, "more than a line is told");
  require(line.size() <= 400, "a line is told at too great length");
  require(runner::telling_line(line, "/usr/include").size() <= 400, "a line grows when told again");
}

}  // namespace nightjar::fuzz
