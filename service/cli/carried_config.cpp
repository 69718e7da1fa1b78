#include "service/cli/carried_config.hpp"

#include <algorithm>
#include <iterator>

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

// Sections of which all is carried: they say where objects come from, or belong to filters.
constexpr std::string_view carried_sections[] = {"http",      "credential", "url",        "lfs",
                                                 "git-crypt", "filter",     "transcrypt", "user",
                                                 "author",    "committer"};
// Names of other sections; a * stands for a subsection.
constexpr std::string_view carried_names[] = {"core.autocrlf",
                                              "core.eol",
                                              "core.safecrlf",
                                              "core.symlinks",
                                              "core.filemode",
                                              "core.ignorecase",
                                              "core.precomposeunicode",
                                              "core.longpaths",
                                              "core.sparsecheckout",
                                              "core.sparsecheckoutcone",
                                              "core.attributesfile",
                                              "core.excludesfile",
                                              "core.bigfilethreshold",
                                              "core.checkroundtripencoding",
                                              "core.abbrev",
                                              "core.usereplacerefs",
                                              "core.sshcommand",
                                              "ssh.variant",
                                              "extensions.objectformat",
                                              "extensions.partialclone",
                                              "core.partialclonefilter",
                                              "remote.*.url",
                                              "remote.*.fetch",
                                              "remote.*.promisor",
                                              "remote.*.partialclonefilter",
                                              "remote.*.proxy",
                                              "submodule.*.url",
                                              "submodule.*.active",
                                              "submodule.active"};

// The key with its subsection, if any, as a star.
std::string pattern_of(const std::string& key) {
  const auto first = key.find('.'), last = key.rfind('.');
  return first == last ? key : key.substr(0, first) + ".*" + key.substr(last);
}

bool is_carried(const ConfigEntry& entry) {
  // Git LFS would write objects there. Their own git folders lead to it for reading.
  if (entry.key == "lfs.storage") return false;
  const auto among = [](const auto& list, const std::string& text) {
    return std::find(std::begin(list), std::end(list), text) != std::end(list);
  };
  const std::string pattern = pattern_of(entry.key);
  // Any other value may be a command.
  if (pattern == "submodule.*.update") return entry.value == "none";
  return among(carried_sections, entry.key.substr(0, entry.key.find('.'))) ||
         among(carried_names, pattern);
}

std::string absolute_address(const std::string& address, const fs::path& base) {
  const bool elsewhere = address.empty() || address.find(':') != std::string::npos ||
                         address.starts_with('/') || address.starts_with('~');
  return elsewhere ? address : (base / address).lexically_normal().string();
}

std::string quoted_value(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return text + "\"";
}

}  // namespace

std::vector<ConfigEntry> parse_config(std::string_view listed) {
  std::vector<ConfigEntry> entries;
  while (!listed.empty()) {
    const std::string_view one = listed.substr(0, listed.find('\0'));
    listed.remove_prefix(std::min(one.size() + 1, listed.size()));
    const auto line_end = one.find('\n');
    ConfigEntry entry{std::string(one.substr(0, line_end)), std::nullopt};
    if (line_end != one.npos) entry.value = one.substr(line_end + 1);
    if (entry.key.find('.') != std::string::npos) entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<ConfigEntry> carried(const std::vector<ConfigEntry>& here,
                                 const std::vector<ConfigEntry>& elsewhere, const fs::path& base) {
  std::vector<ConfigEntry> seen = elsewhere, out;
  for (const ConfigEntry& entry : here) {
    const auto same = std::find(seen.begin(), seen.end(), entry);
    if (same != seen.end()) {
      seen.erase(same);
      continue;
    }
    if (!is_carried(entry)) continue;
    out.push_back(entry);
    const std::string pattern = pattern_of(entry.key);
    if (entry.value && (pattern == "remote.*.url" || pattern == "submodule.*.url"))
      out.back().value = absolute_address(*entry.value, base);
  }
  return out;
}

std::string config_text(const std::vector<ConfigEntry>& entries) {
  std::string text;
  for (const auto& [key, value] : entries) {
    const auto first = key.find('.'), last = key.rfind('.');
    text += "[" + key.substr(0, first);
    if (first != last) text += " " + quoted_value(key.substr(first + 1, last - first - 1));
    text += "]\n\t" + key.substr(last + 1);
    if (value) text += " = " + quoted_value(*value);
    text += "\n";
  }
  return text;
}

}  // namespace nightjar::cli
