#include "service/builds/fat_binaries.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

namespace nightjar::service {

namespace {

constexpr std::uint32_t magic = 0xBA55ED50;
constexpr std::size_t padding_bytes = 8, binary_header_bytes = 16, entry_header_bytes = 32;
constexpr std::uint16_t ptx = 1, machine_code = 2;

template <class T>
T number(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// "sm_90" and "compute_90" in the order of kind and number.
std::pair<bool, int> rank(const std::string& architecture) {
  const auto bar = architecture.find('_');
  int version = 0;
  std::from_chars(architecture.data() + bar + 1, architecture.data() + architecture.size(),
                  version);
  return {architecture.starts_with("compute"), version};
}

}  // namespace

bool FatBinaries::add(std::string_view bytes) {
  while (!bytes.empty() && !unknown_) {
    if (skip_ > 0) {
      const auto count = std::min<std::uint64_t>(skip_, bytes.size());
      skip_ -= count;
      bytes.remove_prefix(count);
      continue;
    }
    const auto count = std::min(wanted_ - header_.size(), bytes.size());
    header_ += bytes.substr(0, count);
    bytes.remove_prefix(count);
    if (header_.size() == wanted_) step();
  }
  return !unknown_;
}

void FatBinaries::step() {
  if (open_) return open_entry();
  if (wanted_ == binary_header_bytes) return open_binary();
  if (number<std::uint64_t>(header_, 0) == 0) {  // padding between two
    header_.clear();
  } else if (number<std::uint32_t>(header_, 0) == magic) {
    wanted_ = binary_header_bytes;
  } else {
    unknown_ = true;
  }
}

void FatBinaries::open_binary() {
  const auto version = number<std::uint16_t>(header_, 4), size = number<std::uint16_t>(header_, 6);
  left_ = number<std::uint64_t>(header_, 8);
  unknown_ = version != 1 || size != binary_header_bytes;
  open_ = true;
  header_.clear();
  wanted_ = entry_header_bytes;
  if (left_ == 0) close_binary();
}

void FatBinaries::open_entry() {
  const auto kind = number<std::uint16_t>(header_, 0), version = number<std::uint16_t>(header_, 2);
  const std::uint64_t size = number<std::uint32_t>(header_, 4),
                      payload = number<std::uint64_t>(header_, 8);
  const auto architecture = number<std::uint32_t>(header_, 28);
  if (version != 0x101 || size < entry_header_bytes || size > left_ || payload > left_ - size ||
      architecture < 10 || architecture > 999) {
    unknown_ = true;
    return;
  }
  if (kind == machine_code) current_.insert("sm_" + std::to_string(architecture));
  if (kind == ptx) current_.insert("compute_" + std::to_string(architecture));
  left_ -= size + payload;
  skip_ = size - entry_header_bytes + payload;
  header_.clear();
  if (left_ == 0) close_binary();
}

void FatBinaries::close_binary() {
  ++binaries_;
  for (const std::string& architecture : current_) ++binaries_with_[architecture];
  current_.clear();
  open_ = false;
  wanted_ = padding_bytes;
}

std::optional<std::string> FatBinaries::architectures() const {
  if (unknown_ || open_ || skip_ > 0) return std::nullopt;
  std::vector<std::string> found;
  for (const auto& [architecture, count] : binaries_with_)
    if (2 * count >= binaries_) found.push_back(architecture);
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return rank(a) < rank(b); });
  std::string text;
  for (const std::string& architecture : found) text += (text.empty() ? "" : " ") + architecture;
  return text;
}

}  // namespace nightjar::service
