#include "runner/make/wheel_check.hpp"

#include <cctype>

#include "runner/build/record.hpp"
#include "runner/build/unpack.hpp"
#include "runner/make/place.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/files.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

constexpr const char* import_module_program = R"(import importlib, json, os, sys
said = {"path": "", "missing": "", "error": ""}
try:
    made = importlib.import_module(sys.argv[1])
    said["path"] = getattr(made, "__file__", None) or list(made.__path__)[0]
except ModuleNotFoundError as error:
    said["missing"], said["error"] = error.name or "", "ModuleNotFoundError: " + str(error)
except BaseException as error:
    said["error"] = type(error).__name__ + ": " + str(error)
os.write(1, ("\n" + json.dumps(said) + "\n").encode())
os._exit(0)
)";

// PEP 503: "Typing_Extensions" is "typing-extensions".
std::string normalized(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (separator && out.ends_with('-')) continue;
    out.push_back(separator ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  return out;
}

fs::path dist_info(const fs::path& site_packages) {
  for (const auto& entry : fs::directory_iterator(site_packages))
    if (entry.path().extension() == ".dist-info" && fs::exists(entry.path() / "RECORD"))
      return entry.path();
  return {};
}

std::string last_json_line(const std::string& output) {
  const auto end = output.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const auto begin = output.rfind('\n', end) + 1;
  return output.substr(begin, end + 1 - begin);
}

}  // namespace

std::set<std::string> required_by(std::string_view metadata) {
  constexpr std::string_view field = "Requires-Dist: ";
  std::set<std::string> names;
  while (!metadata.empty() && metadata.front() != '\n') {
    const auto end = std::min(metadata.find('\n'), metadata.size());
    const std::string_view line = metadata.substr(0, end);
    metadata.remove_prefix(std::min(end + 1, metadata.size()));
    if (!line.starts_with(field)) continue;
    const std::string_view rest = line.substr(field.size());
    names.insert(normalized(rest.substr(0, rest.find_first_of(" ;[(<>=!~\r"))));
  }
  return names;
}

WheelCheck judge_import(const ProcessResult& process, const std::string& module,
                        const fs::path& site_packages, const std::set<std::string>& required) {
  const std::string attempt = "import " + module + ": ";
  if (process.cannot_tell() || process.timed_out || process.oom_kills > 0)
    return {{}, attempt + process.describe()};
  const auto said = parse_foreign(last_json_line(process.output));
  if (!process.fine() || !said.is_object()) return {attempt + process.describe(), {}};
  const std::string path = text_in(said, "path"), error = text_in(said, "error");
  const std::string missing = text_in(said, "missing");
  if (required.contains(normalized(missing.substr(0, missing.find('.')))))
    return {{}, attempt + error + "; the wheel requires it, and this machine's Python lacks it"};
  if (!error.empty()) return {attempt + error, {}};
  if (!path.starts_with(site_packages.string() + "/"))
    return {attempt + "it was loaded from " + path + ", not from the wheel", {}};
  return {};
}

WheelCheck check_wheel(const fs::path& wheel, const std::string& module, const fs::path& python,
                       const fs::path& temporary, const std::function<void(ProcessSpec&)>& put,
                       std::stop_token stop) {
  const TemporaryFolder work(temporary);
  const fs::path site_packages = work.path() / "site-packages";
  std::set<std::string> required;
  try {
    const Contents contents = unpack_wheel(wheel, site_packages);
    const fs::path info = dist_info(site_packages);
    if (info.empty()) return {wheel.filename().string() + " has no RECORD", {}};
    verify(read_record(info / "RECORD"), contents);
    required = required_by(read_file(info / "METADATA", most_metadata).value_or(""));
  } catch (const BrokenArchive& broken) {
    return {broken.what(), {}};
  }
  ProcessSpec spec;
  spec.command = {python.string(), "-c", import_module_program, module};
  spec.environment = clean_environment(work.path());
  spec.environment["PYTHONPATH"] = site_packages.string();
  spec.environment["PYTHONDONTWRITEBYTECODE"] = "1";
  spec.folder = work.path();
  spec.timeout_seconds = 600;
  put(spec);
  const ProcessResult result = run_untrusted(spec, of_recipes, stop);
  if (stop.stop_requested()) throw Stopped();
  return judge_import(result, module, site_packages, required);
}

}  // namespace nightjar::runner
