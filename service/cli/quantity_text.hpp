// Numbers as a reader wants them: three significant digits, changes in per cent. Used by `bisect
// run`.
#pragma once

#include <string>

#include "bisect/statistics.hpp"

namespace nightjar::cli {

// "1.18", "0.0123", "44000000".
std::string number_text(double value, int digits = 3);
// "1.18 (1.16 to 1.19)"; up to six digits where three would hide a difference.
std::string interval_text(double value, double low, double high);
// "+18.0 % (16.9 to 19.1 %)", "57.6 times as much (42.4 to 78.3)".
std::string change_text(const bisect::Ratio& change);
// Without a sign, for a sentence that names the direction: "11.0 % (9.0 to 13.0 %)".
std::string size_text(const bisect::Ratio& change);
// "+18.0 %"
std::string signed_percent(double ratio);
// "7 %" of .07.
std::string percent_text(double share);
// What `--threshold` takes, at most the size of `change` in either direction: "4%" of +4.2 %.
std::string threshold_under(const bisect::Ratio& change);

}  // namespace nightjar::cli
