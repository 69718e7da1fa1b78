#include "service/cli/index_file.hpp"

#include <cstdint>
#include <sys/stat.h>

namespace nightjar::cli {
namespace {

constexpr std::size_t stat_bytes = 40, alignment = 8;
constexpr unsigned extended = 0x4000;        // in an entry's flags: 16 more follow
constexpr unsigned skip_work_tree = 0x4000;  // in those

// Big-endian numbers and names, one after the other. Once something is missing it stays broken.
class IndexBytes {
 public:
  explicit IndexBytes(std::string_view bytes) : bytes_(bytes) {}
  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) is_broken_ = true;
    if (is_broken_) return {};
    const auto taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }
  std::uint32_t number(std::size_t bytes) {
    std::uint32_t value = 0;
    for (const char c : take(bytes)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view name() {
    const auto end = bytes_.find('\0', at_);
    return end == bytes_.npos ? take(bytes_.npos) : take(end - at_);
  }
  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  bool is_broken() const { return is_broken_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool is_broken_ = false;
};

bool is_there(const std::filesystem::path& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

// After the entries and before the file's own hash: is one of the parts a link to another index?
bool is_split(IndexBytes& index, std::size_t hash_bytes) {
  while (index.left() > hash_bytes && !index.is_broken()) {
    if (index.take(4) == "link") return true;
    index.take(index.number(4));
  }
  return false;
}

}  // namespace

std::optional<std::string> missing_file(std::string_view bytes, const std::filesystem::path& tree,
                                        std::size_t hash_bytes) {
  IndexBytes index(bytes);
  const bool is_index = index.take(4) == "DIRC";
  const std::uint32_t version = index.number(4), count = index.number(4);
  if (!is_index || (version != 2 && version != 3)) return std::nullopt;
  std::string missing;
  for (std::uint32_t i = 0; i < count && !index.is_broken(); ++i) {
    const std::size_t begin = index.at();
    index.take(stat_bytes + hash_bytes);
    const unsigned flags = index.number(2);
    const bool is_left_out = (flags & extended) != 0 && (index.number(2) & skip_work_tree) != 0;
    const std::string name(index.name());
    index.take(alignment - (index.at() - begin) % alignment);
    if (name.empty()) return std::nullopt;
    if (missing.empty() && !is_left_out && !is_there(tree / name)) missing = name;
  }
  if (is_split(index, hash_bytes) || index.is_broken() || index.left() != hash_bytes)
    return std::nullopt;
  return missing;
}

}  // namespace nightjar::cli
