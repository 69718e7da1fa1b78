#include "service/cli/index_file.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "storage/base/files.hpp"

using nightjar::TemporaryFolder;
using nightjar::cli::missing_file;

namespace {

constexpr std::size_t sha1_size = 20, sha256_size = 32;

std::string big_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string entry(const std::string& name, std::size_t hash, bool left_out = false) {
  std::string text = std::string(40 + hash, 's') + big_endian(left_out ? 0x4000 : 0, 2) +
                     (left_out ? big_endian(0x4000, 2) : "") + name;
  text.append(8 - text.size() % 8, '\0');
  return text;
}

std::string index_of(std::uint32_t version, const std::vector<std::string>& entries,
                     std::size_t hash, const std::string& extensions = "") {
  std::string text =
      "DIRC" + big_endian(version, 4) + big_endian(static_cast<std::uint32_t>(entries.size()), 4);
  for (const std::string& one : entries) text += one;
  return text + extensions + std::string(hash, 'h');
}

// A folder with the files "a" and "sub/12345678".
struct Tree {
  TemporaryFolder folder{std::filesystem::temp_directory_path()};
  Tree() {
    std::filesystem::create_directory(folder.path() / "sub");
    for (const char* name : {"a", "sub/12345678"}) std::ofstream(folder.path() / name) << name;
  }
};

}  // namespace

TEST_CASE("an index names the first file that its work tree lacks") {
  const Tree tree;
  const auto path = tree.folder.path();
  for (const std::size_t hash : {sha1_size, sha256_size}) {
    const auto a = entry("a", hash), b = entry("sub/12345678", hash),
               gone = entry("sub/gone", hash);
    CHECK(missing_file(index_of(2, {a, b}, hash), path, hash) == "");
    CHECK(missing_file(index_of(2, {a, gone, b}, hash), path, hash) == "sub/gone");
    CHECK(missing_file(index_of(3, {a, entry("left", hash, true), b}, hash), path, hash) == "");
    const std::string tree_part = "TREE" + big_endian(3, 4) + "xyz";
    CHECK(missing_file(index_of(2, {gone}, hash, tree_part), path, hash) == "sub/gone");
  }
}

TEST_CASE("an index that is not understood to its end says nothing") {
  const Tree tree;
  const auto path = tree.folder.path();
  const std::string whole =
      index_of(2, {entry("a", sha1_size), entry("sub/12345678", sha1_size)}, sha1_size);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(missing_file(whole.substr(0, size), path, sha1_size));
  CHECK_FALSE(missing_file(whole + "more", path, sha1_size));
  CHECK_FALSE(missing_file(whole, path, sha256_size));
  CHECK_FALSE(missing_file(index_of(4, {entry("a", sha1_size)}, sha1_size), path, sha1_size));
  const std::string link = "link" + big_endian(20, 4) + std::string(20, 'b');
  CHECK_FALSE(missing_file(index_of(2, {entry("a", sha1_size)}, sha1_size, link), path, sha1_size));
}
