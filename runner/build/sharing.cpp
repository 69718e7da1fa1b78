#include "runner/build/sharing.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

bool have_same_bytes(const fs::path& a, const fs::path& b) {
  std::ifstream left(a, std::ios::binary), right(b, std::ios::binary);
  std::array<char, 1 << 16> block{}, other{};
  while (left && right) {
    left.read(block.data(), block.size());
    right.read(other.data(), other.size());
    if (left.gcount() != right.gcount()) return false;
    if (!std::equal(block.begin(), block.begin() + left.gcount(), other.begin())) return false;
  }
  return left.eof() && right.eof();
}

// Is `name` the byte code of a module, "loop.python-3.pyc" of "loop"?
bool is_byte_code_of(const std::string& module, const std::string& name) {
  return name.ends_with(".pyc") && name.starts_with(module + ".") &&
         name.find('.', module.size() + 1) == name.size() - 4;
}

// By module, so that a folder is read once for all of its files.
void link_byte_code(const fs::path& from, const fs::path& to) {
  const fs::path folder = to.parent_path() / "__pycache__";
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(from.parent_path() / "__pycache__", none)) {
    const fs::path name = entry.path().filename();
    if (!is_byte_code_of(from.stem().string(), name.string())) continue;
    fs::create_directories(folder);
    if (!fs::exists(folder / name)) fs::create_hard_link(entry.path(), folder / name);
  }
}

}  // namespace

std::size_t share_files(const fs::path& from, const fs::path& to, const Contents& contents) {
  std::size_t shared = 0;
  for (const auto& [name, content] : contents) {
    const fs::path theirs = from / name, ours = to / name;
    std::error_code none;
    const auto size = fs::file_size(theirs, none);
    if (none || static_cast<std::int64_t>(size) != content.bytes) continue;
    if (!have_same_bytes(theirs, ours)) continue;
    fs::remove(ours);
    fs::create_hard_link(theirs, ours);
    if (name.ends_with(".py")) link_byte_code(theirs, ours);
    ++shared;
  }
  return shared;
}

}  // namespace nightjar::runner
