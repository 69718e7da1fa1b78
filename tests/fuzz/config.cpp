// nightjar.toml and the file of a project. Only std::invalid_argument may come out.
#include "service/config.hpp"

#include <fstream>
#include <stdexcept>

#include "tests/fuzz/targets.hpp"
#include "tests/support/scratch.hpp"

namespace nightjar::fuzz {
namespace {

template <class Load>
void load(Load load, const std::filesystem::path& file) {
  try {
    load(file);
  } catch (const std::invalid_argument& error) {
    require(std::string_view(error.what()).starts_with(file.string()),
            "an error of the configuration names no file");
  }
}

}  // namespace

void config(std::string_view input) {
  static const runner::Scratch scratch;
  static const auto file = scratch / "nightjar.toml";
  std::ofstream(file, std::ios::binary) << input;
  load(service::load_config, file);
  load(service::load_project, file);
}

}  // namespace nightjar::fuzz
