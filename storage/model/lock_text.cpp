#include "storage/model/lock_text.hpp"

#include <algorithm>

#include "storage/model/address.hpp"

namespace nightjar {
namespace {

constexpr std::size_t longest_name = 200;
constexpr std::size_t longest_version = 100;
// The last index that is asked; uv and pip call it the default.
constexpr std::string_view default_index = "--index-url ", other_index = "--extra-index-url ";
constexpr std::string_view hash_option = "--hash=sha256:";

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string_view line_of(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

// Reads a line "name==version \".
std::optional<LockedPackage> package_of(std::string_view line) {
  const auto equals = line.find("==");
  if (equals == line.npos || !line.ends_with(" \\")) return std::nullopt;
  const std::string_view name = line.substr(0, equals);
  const std::string_view version = line.substr(equals + 2, line.size() - equals - 4);
  if (!is_package_name(name) || !is_package_version(version)) return std::nullopt;
  return LockedPackage{std::string(name), std::string(version)};
}

// Reads the lines after a package's first one. False if there are none, or if one is not a hash.
bool take_hashes(std::string_view& text, PinnedPackage& package) {
  for (bool has_more = true; has_more;) {
    std::string_view line = line_of(text);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    has_more = line.ends_with(" \\");
    if (has_more) line.remove_suffix(2);
    if (!line.starts_with(hash_option)) return false;
    const auto hash = Sha256::parse(line.substr(hash_option.size()));
    if (!hash) return false;
    package.hashes.push_back(*hash);
  }
  return true;
}

}  // namespace

bool is_package_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

bool is_package_version(std::string_view text) {
  return !text.empty() && text.size() <= longest_version && (is_alphanumeric(text.front())) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_alphanumeric(c) || std::string_view(".+!-_").find(c) != std::string_view::npos;
         });
}

std::optional<LockText> parse_lock_text(std::string_view text) {
  LockText lock;
  std::optional<std::string> last_index;
  while (!text.empty()) {
    const std::string_view line = line_of(text);
    if (line.empty()) continue;
    const bool is_default = line.starts_with(default_index);
    if (is_default || line.starts_with(other_index)) {
      const auto index =
          Address::parse(line.substr((is_default ? default_index : other_index).size()));
      if (!index || (is_default && last_index)) return std::nullopt;
      if (is_default)
        last_index = index->text();
      else
        lock.indexes.push_back(index->text());
      continue;
    }
    auto package = package_of(line);
    if (!package) return std::nullopt;
    lock.packages.push_back({*std::move(package), {}});
    if (!take_hashes(text, lock.packages.back())) return std::nullopt;
  }
  if (last_index) lock.indexes.push_back(*std::move(last_index));
  return lock;
}

std::string text_of(const LockText& lock) {
  std::string text;
  if (!lock.indexes.empty()) {
    text.append(default_index).append(lock.indexes.back()).append("\n");
    for (std::size_t i = 0; i + 1 < lock.indexes.size(); ++i)
      text.append(other_index).append(lock.indexes[i]).append("\n");
    text += "\n";
  }
  return text + packages_text(lock);
}

std::string packages_text(const LockText& lock) {
  std::string text;
  for (const PinnedPackage& pinned : lock.packages) {
    text += pinned.package.name + "==" + pinned.package.version;
    for (const Sha256& hash : pinned.hashes)
      text.append(" \\\n    ").append(hash_option).append(hash.str());
    text += "\n";
  }
  return text;
}

}  // namespace nightjar
