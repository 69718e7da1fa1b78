#include "service/cli/instructions.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "service/cli/bench.hpp"
#include "service/cli/event_counter.hpp"
#include "service/cli/failure.hpp"
#include "storage/base/child.hpp"
#include "storage/base/files.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

Ran run_on_counters(const std::string& command, const WorkPlace& place, double timeout_seconds,
                    std::stop_token stop) {
  const ChildCounter counter(instructions_event());
  Ran ran = run_command(command, place, timeout_seconds, std::move(stop));
  const auto count = counter.count();
  ran.counted = Count{count.value_or(0), ""};
  if (!count) ran.counted->problem = "was not counted: other programs use all counters of the CPU";
  return ran;
}

// valgrind writes a percent sign in a name as two.
std::string pattern_below(const fs::path& folder, const std::string& name) {
  std::string text;
  for (const char c : folder.string()) text += c == '%' ? std::string("%%") : std::string(1, c);
  return quoted_for_shell(text + "/" + name);
}

// From what cachegrind wrote of a process, which ends with "summary: 124578".
std::optional<double> count_in(const fs::path& file) {
  const std::string text = read_file(file).value_or("");
  const std::string word = "\nsummary: ";
  const auto at = text.rfind(word);
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(text.c_str() + at + word.size(), nullptr);
}

// Each process has a log from its start, and a file of counts from its end.
Count sum_below(const fs::path& folder) {
  Count sum;
  for (const auto& entry : fs::directory_iterator(folder)) {
    fs::path file = entry.path();
    if (file.extension() != ".log") continue;
    if (const auto count = count_in(file.replace_extension(".counts")))
      sum.value += *count;
    else
      sum.problem = "was not counted: one of its processes was killed";
  }
  if (sum.value == 0) sum.problem = "was not counted: valgrind wrote no counts";
  return sum;
}

Ran run_in_valgrind(const std::string& valgrind, const std::string& command, const WorkPlace& place,
                    double timeout_seconds, std::stop_token stop) {
  const TemporaryFolder counts("counts");
  const std::string whole = "exec " + quoted_for_shell(valgrind) +
                            " --tool=cachegrind --cache-sim=no --trace-children=yes" +
                            " --log-file=" + pattern_below(counts.path(), "%p.log") +
                            " --cachegrind-out-file=" + pattern_below(counts.path(), "%p.counts") +
                            " sh -c " + quoted_for_shell(command);
  Ran ran = run_command(whole, place, timeout_seconds, std::move(stop));
  ran.counted = sum_below(counts.path());
  return ran;
}

}  // namespace

InstructionCounter find_instruction_counter() {
  const ChildCounter counters(instructions_event());
  if (counters.problem().empty()) return {""};
  const std::string name = "valgrind", found = find_program(name);
  if (found != name) return {found};
  throw BadInput(
      "cannot count instructions: the kernel gives no counter of this CPU (" + counters.problem() +
      "; virtual machines often have none, and kernel.perf_event_paranoid may forbid it), and "
      "there is no valgrind in PATH; install valgrind, or measure something else");
}

Ran run_counted(const InstructionCounter& counter, const std::string& command,
                const WorkPlace& place, double timeout_seconds, std::stop_token stop) {
  return counter.valgrind.empty()
             ? run_on_counters(command, place, timeout_seconds, std::move(stop))
             : run_in_valgrind(counter.valgrind, command, place, timeout_seconds, std::move(stop));
}

}  // namespace nightjar::cli
