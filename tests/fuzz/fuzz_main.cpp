// The entry points of libFuzzer. `fuzz --target=NAME CORPUS [options of libFuzzer]`.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "storage/base/log.hpp"
#include "tests/fuzz/targets.hpp"

namespace {

const nightjar::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  constexpr std::string_view option = "--target=";
  for (int i = 1; i < *count; ++i) {
    const std::string_view argument = (*arguments)[i];
    if (!argument.starts_with(option)) continue;
    for (const auto& target : nightjar::fuzz::all_targets())
      if (target.name == argument.substr(option.size())) chosen = &target;
  }
  if (!chosen) {
    std::fprintf(stderr, "fuzz: name a target, --target=NAME; there are:\n");
    for (const auto& target : nightjar::fuzz::all_targets())
      std::fprintf(stderr, "  %s\n", std::string(target.name).c_str());
    std::exit(2);
  }
  nightjar::log::only(nightjar::log::Level::off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    chosen->run({reinterpret_cast<const char*>(data), size});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz: %s: %s\n", std::string(chosen->name).c_str(), error.what());
    std::abort();
  }
  return 0;
}
