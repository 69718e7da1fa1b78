#include "service/cli/quantity_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "storage/base/foreign_number.hpp"

namespace nightjar::cli {
namespace {

constexpr double times_from = 3;  // from here on a factor reads better than per cent

std::string fixed(double value, int decimals) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// Three significant digits of the largest of these percentages.
int decimals_of(double a, double b, double c) {
  const double largest = std::max({std::fabs(a), std::fabs(b), std::fabs(c)});
  if (largest >= 99.95) return 0;
  return largest < .995 ? 2 : 1;
}

double percent(double ratio) {
  return 100 * (ratio - 1);
}

std::string percents(double value, double low, double high) {
  const int decimals = decimals_of(value, low, high);
  return fixed(value, decimals) + " % (" + fixed(low, decimals) + " to " + fixed(high, decimals) +
         " %)";
}

}  // namespace

std::string number_text(double value, int digits) {
  if (value == 0) return "0";
  char text[64];
  std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
  const double rounded = std::strtod(text, nullptr);
  const int exponent = clamped_integer<int>(std::floor(std::log10(std::fabs(rounded)) + 1e-9));
  if (exponent < -4 || exponent >= 15) return text;
  return fixed(rounded, std::max(0, digits - 1 - exponent));
}

std::string interval_text(double value, double low, double high) {
  int digits = 3;
  const auto enough = [&] {
    return low == high ? std::strtod(number_text(low, digits).c_str(), nullptr) == low
                       : number_text(low, digits) != number_text(high, digits);
  };
  while (digits < 6 && !enough()) ++digits;
  return number_text(value, digits) + " (" + number_text(low, digits) + " to " +
         number_text(high, digits) + ")";
}

std::string change_text(const bisect::Ratio& change) {
  if (change.low == 1 && change.high == 1) return "none";
  if (change.ratio >= times_from)
    return number_text(change.ratio) + " times as much (" + number_text(change.low) + " to " +
           number_text(change.high) + ")";
  const std::string text =
      percents(percent(change.ratio), percent(change.low), percent(change.high));
  return (text.starts_with('-') ? "" : "+") + text;
}

std::string signed_percent(double ratio) {
  const double value = percent(ratio);
  return (value < 0 ? "" : "+") + fixed(value, decimals_of(value, value, value)) + " %";
}

std::string size_text(const bisect::Ratio& change) {
  const double low = std::fabs(percent(change.low)), high = std::fabs(percent(change.high));
  return percents(std::fabs(percent(change.ratio)), std::min(low, high), std::max(low, high));
}

std::string percent_text(double share) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3g %%", 100 * share);
  return text;
}

std::string threshold_under(const bisect::Ratio& change) {
  const double size = percent(std::max(change.ratio, 1 / change.ratio));
  double step = 1;
  while (step > size) step /= 10;
  char text[40];
  std::snprintf(text, sizeof text, "%g%%", std::floor(size / step) * step);
  return text;
}

}  // namespace nightjar::cli
