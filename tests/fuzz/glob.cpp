// A glob and a text, a line each. Short ones are matched once more in the simplest way.
#include "storage/model/workload.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {
namespace {

constexpr std::size_t short_text = 12;  // the simplest way takes exponential time

bool matches(std::string_view glob, std::string_view text) {
  if (glob.empty()) return text.empty();
  if (glob.starts_with("**"))
    return matches(glob.substr(2), text) || (!text.empty() && matches(glob, text.substr(1)));
  const bool in_part = !text.empty() && text[0] != '/';
  if (glob[0] == '*')
    return matches(glob.substr(1), text) || (in_part && matches(glob, text.substr(1)));
  if (text.empty() || (glob[0] == '?' ? !in_part : glob[0] != text[0])) return false;
  return matches(glob.substr(1), text.substr(1));
}

}  // namespace

void glob(std::string_view input) {
  const std::string_view pattern = take_line(input), text = take_line(input);
  const bool found = glob_match(pattern, text);
  if (pattern.size() <= short_text && text.size() <= short_text)
    require(found == matches(pattern, text), "a glob matches what it should not, or the reverse");
  require(glob_match("**", text), "** does not match everything");
  const auto name = WorkloadName::parse(text);
  if (!name) return;
  require(name->str() == text, "a workload's name changes when it is read");
  require(name->on(name->device()) == name, "a workload on its own device is another one");
  require(name->variant(name->precision(), name->batch(), name->backend()) == name,
          "a workload is not a variant of itself");
  require(glob_match(text, text), "a workload's name does not match itself");
}

}  // namespace nightjar::fuzz
