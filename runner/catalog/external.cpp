#include "runner/catalog/external.hpp"

#include <algorithm>
#include <stdexcept>
#include <toml++/toml.h>
#include <unistd.h>

#include "runner/process/failure.hpp"
#include "storage/base/child.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// One [[workload]] of a file; every complaint names both.
class Entry {
 public:
  Entry(const fs::path& file, const toml::table& table)
      : file_(file), table_(table), name_(table["name"].value_or(std::string())) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw WrongUse(file_.string() + ", line " + std::to_string(table_.source().begin.line) +
                   ": workload '" + name_ + "': " + what);
  }

  ExternalWorkload read() const {
    for (const auto& [key, value] : table_)
      if (std::find(std::begin(kKeys), std::end(kKeys), key.str()) == std::end(kKeys))
        refuse("'" + std::string(key.str()) +
               "' is unknown; there are name, version, command, folder, "
               "timeout and torch");
    const auto name = WorkloadName::parse(name_);
    if (!name) refuse("name must be suite/model/task/device/precision/bN/backend");
    if (is_ours(name->suite()) || name->suite() == "control")
      refuse("the suite '" + std::string(name->suite()) +
             "' is Nightjar's own; choose another name");
    const fs::path base = fs::absolute(file_).parent_path();
    ExternalWorkload out{{*name, 1, WorkloadKind::external}, {}, base, {}, true};
    out.entry.version = version();
    out.command = command(base);
    if (const auto* folder = table_.get("folder")) {
      if (!folder->is_string()) refuse("folder must be a path");
      out.folder = (base / folder->ref<std::string>()).lexically_normal();
    }
    if (const auto* timeout = table_.get("timeout")) {
      out.timeout_seconds = timeout->value<double>();
      if (!out.timeout_seconds || !(*out.timeout_seconds > 0))
        refuse("timeout must be seconds, over 0");
    }
    if (const auto* torch = table_.get("torch")) {
      if (!torch->is_boolean()) refuse("torch must be true or false");
      out.torch = torch->ref<bool>();
    }
    return out;
  }

 private:
  static constexpr std::string_view kKeys[] = {"name",   "version", "command",
                                               "folder", "timeout", "torch"};

  int version() const {
    const auto* node = table_.get("version");
    if (!node) return 1;
    const auto number = node->value_exact<std::int64_t>();
    if (!number || *number < 1 || *number > 1'000'000'000)
      refuse("version must be a whole number from 1");
    return static_cast<int>(*number);
  }

  // A program beside the file goes before one on PATH; one with a slash is relative to the file.
  std::vector<std::string> command(const fs::path& base) const {
    const auto* list = table_["command"].as_array();
    if (!list || list->empty() || !list->is_homogeneous<std::string>())
      refuse("command must be a list of program and arguments, as [\"{python}\", \"mine.py\"]");
    std::vector<std::string> out;
    for (const auto& word : *list) out.push_back(word.ref<std::string>());
    std::string& program = out.front();
    if (program.empty()) refuse("command begins with an empty program");
    std::error_code error;
    if (program.starts_with("{")) return out;
    if (program.find('/') != std::string::npos || fs::exists(base / program, error))
      program = (base / program).lexically_normal().string();
    return out;
  }

  const fs::path& file_;
  const toml::table& table_;
  const std::string name_;
};

std::string replaced(std::string text, std::string_view placeholder, const std::string& value) {
  for (auto at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + value.size()))
    text.replace(at, placeholder.size(), value);
  return text;
}

toml::table parse_commands(const fs::path& file) {
  try {
    return toml::parse_file(file.string());
  } catch (const toml::parse_error& broken) {
    const auto line = broken.source().begin.line;
    throw WrongUse("--commands " + file.string() + (line ? ", line " + std::to_string(line) : "") +
                   ": " + std::string(broken.description()));
  }
}

}  // namespace

Externals read_externals(const fs::path& file) {
  Externals out;
  if (file.empty()) return out;
  const toml::table root = parse_commands(file);
  const auto* list = root["workload"].as_array();
  if (!list || list->empty() || !list->is_homogeneous<toml::table>() || root.size() != 1)
    throw WrongUse(
        "--commands " + file.string() +
        ": it must hold [[workload]] tables and nothing else; docs/workloads.md shows one");
  for (const auto& node : *list) {
    const Entry entry(file, *node.as_table());
    ExternalWorkload read = entry.read();
    if (find_external(out, read.entry.name)) entry.refuse("an entry before has the same name");
    out.push_back(std::move(read));
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
    word = replaced(word, "{python}", place.python.string());
    word = replaced(word, "{site_packages}", place.site_packages.string());
    words.push_back(replaced(word, "{workloads}", fs::absolute(place.workloads).string()));
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
