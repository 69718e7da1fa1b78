// A comparison as text: for a terminal, Markdown, JSON, GitHub's annotations, JUnit XML. Used by
// `compare`.
#pragma once

#include <string>

#include "service/cli/compared_metrics.hpp"

namespace nightjar::cli {

// Nothing in these steers a terminal or is markup of others.
std::string compared_table(const ComparedMetrics& compared);
std::string compared_markdown(const ComparedMetrics& compared);
std::string compared_json(const ComparedMetrics& compared);

// GitHub's workflow commands, one for each metric that got worse and each workload that was lost:
// errors if they make the job fail, else warnings.
std::string github_annotations(const ComparedMetrics& compared, bool are_errors);
// A test case for each metric. What got worse or was lost failed; what could not be judged was
// skipped.
std::string compared_junit(const ComparedMetrics& compared);

}  // namespace nightjar::cli
