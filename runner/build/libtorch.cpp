#include "runner/build/libtorch.hpp"

#include <map>
#include <vector>

#include "runner/build/record.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

bool is_build_file(const std::string& path) {
  return path.starts_with("torch/lib/") || path.starts_with("torch/include/") ||
         path.starts_with("torch/share/cmake/");
}

using Hashes = std::map<std::string, std::string>;  // by path

std::string lines_of(const Hashes& hashes) {
  std::string text;
  for (const auto& [path, hash] : hashes) text += path + "=" + hash + "\n";
  return text;
}

// Returns the hashes of all regular files below `folder` that `wanted` takes, one a line.
template <class Wanted>
std::string hashes_where(const fs::path& folder, Wanted wanted) {
  Hashes hashes;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().lexically_relative(folder).generic_string();
    if (entry.is_regular_file() && wanted(path)) hashes[path] = digest_of_file(entry.path()).str();
  }
  return lines_of(hashes);
}

std::string hashes_of_build(const fs::path& site_packages) {
  if (const fs::path record = find_record(site_packages, "torch"); !record.empty()) {
    std::string text;
    for (const auto& [path, entry] : read_record(record))
      if (is_build_file(path)) text += path + "=" + entry.sha256 + "\n";
    if (!text.empty()) return text;
  }
  return hashes_where(site_packages, is_build_file);
}

// /usr has more below lib and include than LibTorch. Libraries have several names there, of one
// file.
std::string hashes_of_installed(const LibTorch& libtorch) {
  Hashes libraries;
  for (const auto& entry : fs::directory_iterator(libtorch.libraries)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.starts_with("libtorch") || name.starts_with("libc10");
    if (ours && entry.is_regular_file() && !entry.is_symlink())
      libraries[name] = digest_of_file(entry.path()).str();
  }
  std::string text = lines_of(libraries);
  for (const char* headers : {"ATen", "c10", "caffe2", "torch"})
    if (const fs::path folder = libtorch.root / "include" / headers; fs::is_directory(folder))
      text += hashes_where(folder, [](const std::string&) { return true; });
  return text;
}

// Where packages put libraries below a prefix: Debian in a folder of the architecture.
std::vector<fs::path> library_folders(const fs::path& root) {
  std::vector<fs::path> folders = {root / "lib", root / "lib64"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "lib", error))
    if (entry.is_directory(error)) folders.push_back(entry.path());
  return folders;
}

}  // namespace

LibTorch libtorch_of_build(const fs::path& site_packages) {
  return {site_packages, site_packages / "torch", site_packages / "torch/lib", true};
}

LibTorch libtorch_at(const fs::path& prefix) {
  std::error_code error;
  if (const fs::path root = fs::canonical(prefix, error); !error)
    for (const fs::path& folder : library_folders(root))
      if (fs::exists(folder / "libtorch_cpu.so", error)) return {root, root, folder};
  throw WrongUse("--libtorch " + prefix.string() +
                 ": no lib/libtorch_cpu.so there; name the unpacked libtorch folder, or the prefix "
                 "that a package "
                 "installs into (/usr)");
}

std::string hashes_of(const LibTorch& libtorch) {
  return libtorch.of_build ? hashes_of_build(libtorch.root) : hashes_of_installed(libtorch);
}

std::string hashes_of_sources(const fs::path& folder) {
  return hashes_where(folder, [](const std::string& path) {
    return path.ends_with(".cpp") || path.ends_with(".hpp") || path.ends_with("CMakeLists.txt");
  });
}

}  // namespace nightjar::runner
