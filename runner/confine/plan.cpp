#include "runner/confine/plan.hpp"

#include <stdexcept>

namespace nightjar::confine {
namespace {

void take(Plan& plan, const std::string& option, const std::string& value) {
  const auto place = [&](Access access) {
    plan.places.push_back({std::filesystem::path(value).lexically_normal(), access});
  };
  if (option == "--show") return place(Access::shown);
  if (option == "--write") return place(Access::written);
  if (option == "--scratch") return place(Access::scratch);
  if (option == "--hide") return place(Access::hidden);
  if (option == "--scratch-bytes")
    plan.scratch_bytes = value;
  else if (option == "--threads")
    plan.threads = std::stoul(value);
  else if (option == "--folder")
    plan.folder = value;
  else if (option == "--set")
    plan.variables.push_back(value);
  else
    throw std::runtime_error("the option " + option + " is unknown");
}

}  // namespace

Plan parse(int argc, char** argv) {
  Plan plan;
  int at = 1;
  for (; at + 1 < argc && std::string(argv[at]) != "--"; at += 2)
    take(plan, argv[at], argv[at + 1]);
  for (++at; at < argc; ++at) plan.command.emplace_back(argv[at]);
  if (plan.command.empty()) throw std::runtime_error("there is no command after --");
  return plan;
}

}  // namespace nightjar::confine
