#include "service/cli/gzip.hpp"

#include <stdexcept>

#include "runner/process/process.hpp"
#include "service/cli/shell.hpp"

namespace nightjar::cli {

bool is_gzip(std::string_view text) {
  return text.starts_with("\x1f\x8b");
}

std::filesystem::path without_gz(const std::filesystem::path& path) {
  return path.extension() == ".gz" ? path.parent_path() / path.stem() : path;
}

std::string from_gzip(const std::string& text, std::size_t most) {
  runner::ProcessSpec spec;
  // What it says on errors stays apart from the bytes, which go to descriptor 3.
  spec.command = {"sh", "-c", "exec gzip -dc >&3"};
  spec.environment = own_environment();
  spec.input = text;
  spec.protocol_bytes = static_cast<std::int64_t>(most);
  const auto ran = runner::run_trusted(spec);
  if (ran.flooded == "protocol") throw std::invalid_argument("unpacked, it is too large");
  if (ran.cannot_tell())
    throw std::invalid_argument("the program gzip, which unpacks it, does not run here");
  if (!ran.fine()) throw std::invalid_argument("it is no whole gzip file");
  return ran.protocol;
}

}  // namespace nightjar::cli
