// The name of a wheel's file. Nothing may come out but a name that means the same when it is
// written.
#include "service/builds/wheel_name.hpp"

#include "service/builds/index_page.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

}  // namespace

void wheel_name(std::string_view input) {
  service::file_name_of(input);
  std::string problem;
  service::select_wheel(input, {"cpu", "cp311"}, problem);
  const auto version = service::parse_version(input);
  if (version) {
    require(version->text == input && !version->base.empty(), "a version has no numbers");
    require(version->date.empty() || version->date.size() == 10, "a date is no date");
    service::local_parts(version->variant);
  }
  const auto name = service::parse_wheel_name(input);
  if (!name) return;
  const auto again = service::parse_wheel_name(name->distribution + "-" + name->version.text + "-" +
                                               joined(name->python_tags) + "-none-" +
                                               joined(name->platform_tags) + ".whl");
  require(again && again->distribution == name->distribution &&
              again->version.text == name->version.text &&
              again->python_tags == name->python_tags &&
              again->platform_tags == name->platform_tags,
          "a wheel's name changes when it is written");
}

}  // namespace nightjar::fuzz
