#include "runner/catalog/external.hpp"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <stdexcept>
#include <unistd.h>
#include <utility>

#include "runner/process/failure.hpp"
#include "storage/base/child.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/toml.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// The name of an entry that is unlike those before it, in a suite that is not ours; nullopt and an
// error if it has none.
std::optional<WorkloadName> read_name(TomlTable& entry, const Externals& before) {
  std::string text;
  entry.read("name", text);
  const auto name = WorkloadName::parse(text);
  if (!name)
    entry.fail("name", "must be suite/model/task/device/precision/bN/backend");
  else if (is_ours(name->suite()) || name->suite() == "control")
    entry.fail("name",
               "the suite " + in_quotes(name->suite()) + " is Nightjar's own; choose another name");
  else if (find_external(before, *name))
    entry.fail("name", "an entry before has the same name");
  return name;
}

// A program beside the file goes before one on PATH; one with a slash is relative to the file.
std::vector<std::string> command_of(TomlTable& entry, const fs::path& base) {
  auto out = entry.list("command",
                        "must be a list of program and arguments, as [\"{python}\", \"mine.py\"]",
                        [](const TomlItem& item) { return text_of(item); });
  if (!entry.has("command")) entry.fail("command", "is required: a list of program and arguments");
  if (entry.is_wrong("command")) return {};
  std::string& program = out.front();
  if (program.empty()) entry.fail("command", "begins with an empty program");
  std::error_code error;
  if (program.starts_with("{")) return out;
  if (program.find('/') != std::string::npos || fs::exists(base / program, error))
    program = (base / program).lexically_normal().string();
  return out;
}

// Adds what the entry describes, if it has a name.
void read_entry(TomlTable& entry, const fs::path& base, Externals& out) {
  const auto name = read_name(entry, out);
  const auto version = static_cast<int>(entry.integer("version", 1, 1, 1'000'000'000));
  const auto command = command_of(entry, base);
  fs::path folder = base;
  entry.read("folder", folder);
  if (folder.empty()) entry.fail("folder", "must be a path; leave it out for the file's folder");
  std::optional<double> timeout_seconds;
  if (entry.has("timeout")) timeout_seconds = entry.number("timeout", 0, .001, 1e9);
  bool torch = true;
  entry.read("torch", torch);
  entry.done();
  if (!name) return;
  const CatalogEntry listed{*name, version, WorkloadKind::external};
  out.push_back({listed, command, folder, timeout_seconds, torch});
}

}  // namespace

Externals read_externals(const fs::path& file) {
  Externals out;
  if (file.empty()) return out;
  try {
    TomlFile toml(file);
    std::vector<TomlTable> entries = toml.tables("workload");
    for (TomlTable& entry : entries) read_entry(entry, fs::absolute(file).parent_path(), out);
    if (entries.empty() && !toml.is_wrong("workload"))
      toml.fail("workload", "is required, as [[workload]]; docs/workloads.md shows one");
    toml.finish();
  } catch (const std::invalid_argument& error) {
    throw WrongUse(error.what());
  }
  return out;
}

const ExternalWorkload* find_external(const Externals& externals, const WorkloadName& name) {
  const auto found = std::find_if(externals.begin(), externals.end(), [&](const auto& external) {
    return external.entry.name == name;
  });
  return found == externals.end() ? nullptr : &*found;
}

std::vector<std::string> command_line(const ExternalWorkload& external, const CommandPlace& place,
                                      std::string& reason) {
  std::vector<std::string> words;
  for (std::string word : external.command) {
    boost::replace_all(word, "{python}", place.python.string());
    boost::replace_all(word, "{site_packages}", place.site_packages.string());
    boost::replace_all(word, "{workloads}", fs::absolute(place.workloads).string());
    words.push_back(std::move(word));
  }
  const std::string program = find_program(words.front());
  std::error_code error;
  if (::access(program.c_str(), X_OK) != 0 || fs::is_directory(program, error)) {
    reason = "there is no program " + words.front() + " that can be started";
  } else if (!fs::is_directory(external.folder, error)) {
    reason = "there is no folder " + external.folder.string();
  } else {
    return words;
  }
  return {};
}

}  // namespace nightjar::runner
