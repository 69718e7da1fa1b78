// The wheel did it: it was compiled or packed in another way than the one before.
#include "service/report/quantity.hpp"
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"

namespace nightjar::service {
namespace {

// How it was measured, as far as it was.
std::string how_divided(const Attribution& whose) {
  if (!whose.wheel) return {};
  if (whose.source.low == whose.source.high)
    return "No file of the source was measured to matter; all of the change is the wheel's: " +
           part_of_change(*whose.wheel) + ".\n";
  return "Each end's Python files were measured on both wheels, in turns. The source changes it "
         "by " +
         part_of_change(whose.source) + ", the wheel by " + part_of_change(*whose.wheel) + ".\n";
}

std::string differences_list(const ReportInput& input) {
  if (input.wheel_differences.empty())
    return "\nThe wheels tell no difference in how they were made.\n";
  std::string text = "\nWhat differs between the wheels, as far as they tell:\n\n";
  for (const std::string& line : input.wheel_differences)
    text += "- " + plain(shortened(line, 400)) + "\n";
  return text;
}

}  // namespace

std::string part_of_change(const Part& part) {
  return change(part.ratio) + " (" + change_interval(part.low, part.high) + ")";
}

std::string wheel_section(const ReportInput& input) {
  if (!input.attribution || (!input.attribution->wheel && !has_wheel(input.attribution->cause)))
    return {};
  std::string text = "\n## The source or the wheel?\n\n" + how_divided(*input.attribution);
  if (has_wheel(input.attribution->cause)) text += differences_list(input);
  return text;
}

std::string advice_on_wheels(const ReportInput& input) {
  std::string text =
      "Look at what built the two wheels: the builder's image, its compiler, its flags and the "
      "libraries that it packs.";
  if (input.package == "torch")
    text += " Compare what " + code("python -c \"import torch; print(torch.__config__.show())\"") +
            " prints for each.";
  return text;
}

}  // namespace nightjar::service
