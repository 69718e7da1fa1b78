// What a git remote makes git say on standard error. However it is cut into parts, the lines are
// the same, short and harmless, and why git failed shows nothing of the secret.
#include "storage/base/foreign_text.hpp"
#include "storage/base/git_process.hpp"
#include "storage/base/redaction.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {
namespace {

constexpr std::string_view secret = "s3cr3t/word";
constexpr std::size_t longest_failure = 2'000;  // bytes

std::vector<std::string> lines_of(std::string_view said, std::size_t part) {
  std::vector<std::string> lines;
  const auto hear = [&](std::string_view line) { lines.emplace_back(line); };
  LineSplitter splitter;
  for (std::size_t at = 0; at < said.size(); at += part) splitter.take(said.substr(at, part), hear);
  splitter.finish(hear);
  return lines;
}

}  // namespace

void git_words(std::string_view input) {
  keep_login("me", std::string(secret));
  const auto lines = lines_of(input, input.size() + 1);
  require(lines == lines_of(input, 1), "lines depend on how they arrive");
  git::GitWords words;
  for (const std::string& line : lines) {
    require(line == one_line(line), "a line is not harmless");
    // A byte that is no UTF-8 becomes three.
    require(line.size() <= 3 * LineSplitter::longest_line, "a line is too long");
    const std::string shown = without_credentials(line);
    require(shown.find(secret) == shown.npos, "a secret is shown");
    require(without_credentials(shown) == shown, "what was hidden is hidden again");
    words.hear(shown);
  }
  ChildOutcome failed;
  failed.status = 128 << 8;
  const std::string failure = words.failure_of(failed);
  require(!failure.empty() && failure == one_line(failure), "a failure is not told in one line");
  require(failure.size() <= longest_failure, "a failure is told at too great length");
}

}  // namespace nightjar::fuzz
