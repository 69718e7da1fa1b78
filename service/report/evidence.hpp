// The sections of an issue that show why its verdict holds. Used by report.cpp. Each returns
// Markdown that begins with an empty line, or nothing where there is nothing to say.
#pragma once

#include <string>
#include <vector>

#include "service/report/report.hpp"

namespace nightjar::service {

// Which operators got slower at the culprit, at most `limit`, or which part of the memory grew.
std::string profile_section(const ReportInput& input, std::size_t limit);
// Ends, runs, sessions, builds, runner and at most `limit` facts of the machine.
std::string measured_section(const ReportInput& input, std::size_t limit);
// What differs between the ends besides PyTorch's source; says plainly if nothing does.
std::string environment_section(const ReportInput& input, std::size_t limit);
// Commands that measure both ends, the culprit's neighbours, and search again; they run as printed.
// What to read, as Markdown, and then what to type; no commands: nothing.
struct ReproductionStep {
  std::string said, commands;
};
using Reproduction = std::vector<ReproductionStep>;
Reproduction reproduction(const ReportInput& input);
std::string reproduction_section(const ReportInput& input);
// At most `limit` of the tested commits, those nearest to the culprit.
std::string tested_section(const ReportInput& input, std::size_t limit);
// What else the posterior holds possible, at most `limit` lines.
std::string alternatives_section(const ReportInput& input, std::size_t limit);
// Who says so, and where to read on.
std::string source_line(const ReportInput& input);

}  // namespace nightjar::service
