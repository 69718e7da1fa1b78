#include "runner/build/python.hpp"

#include <algorithm>

#include "runner/catalog/source_tree.hpp"
#include "runner/process/cpu_quota.hpp"
#include "runner/process/driver_environment.hpp"
#include "runner/process/process.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

constexpr const char* import_program = R"(import json, os, platform
import torch, torch.version
os.write(3, json.dumps({"version": torch.__version__, "path": torch.__file__,
    "git_version": str(torch.version.git_version), "python": platform.python_version()}).encode())
)";

// Arguments: the module, and the folder that it must come from. Its version is that of the one
// distribution there.
constexpr const char* import_other =
    R"(import importlib, importlib.metadata, json, os, platform, sys
import torch
name = sys.argv[1]
module = importlib.import_module(name)
path = module.__file__ or list(module.__path__)[0]
version = [found.version for found in importlib.metadata.distributions(path=[sys.argv[2]])]
os.write(3, json.dumps({"version": version[0] if len(version) == 1 else "", "path": path,
    "git_version": "", "python": platform.python_version()}).encode())
)";

// Lists the GPU libraries of this Python's own packages, as libraries_of_packages() does for those
// of a build.
constexpr PythonText gpu_libraries_program = R"(import glob, importlib.metadata, json, os, sys
found = []
for path in sys.path:
    found += sorted(glob.glob(glob.escape(path) + "/nvidia/*/lib"))
    for package in importlib.metadata.distributions(path=[path]):
        if (package.metadata["Name"] or "").lower().startswith("nvidia-"):
            found += sorted({os.path.dirname(os.path.join(path, file)) for file in package.files or ()
                             if file.name.startswith("lib") and ".so" in file.suffixes})
os.write(3, json.dumps([folder for folder in dict.fromkeys(found) if os.path.isdir(folder)]).encode())
)";

constexpr PythonText folders_program = R"(import json, os, sys
found = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, sys.executable,
    *filter(os.path.isabs, sys.path)]
os.write(3, json.dumps([path for path in dict.fromkeys(found) if os.path.exists(path)]).encode())
)";

constexpr PythonText packages_program = R"(import importlib.metadata, json, os, re
found = {re.sub("[-_.]+", "-", one.metadata["Name"]).lower(): one.version
    for one in importlib.metadata.distributions() if one.metadata["Name"]}
for name in ("pip", "setuptools", "uv", "wheel"):
    found.pop(name, None)
os.write(3, json.dumps(found).encode())
)";

constexpr PythonText device_use_program = R"(import ctypes, json, os

def cuda():
    driver = ctypes.CDLL("libcuda.so.1")
    count = ctypes.c_int(0)
    for name, arguments in (("cuInit", [0]), ("cuDeviceGetCount", [ctypes.byref(count)])):
        code = getattr(driver, name)(*arguments)
        if code:
            raise OSError(f"{name} answers {code}")
    if not count.value:
        raise OSError("it has no device")

def kfd():
    os.close(os.open("/dev/kfd", os.O_RDWR))

problems = {}
for name, use in (("libcuda.so.1", cuda), ("/dev/kfd", kfd)):
    try:
        use()
        problems[name] = ""
    except (OSError, AttributeError) as error:
        problems[name] = str(error)
mapped = {line.split(maxsplit=5)[5].strip() for line in open("/proc/self/maps") if "/" in line}
folders = sorted({os.path.dirname(path) for path in mapped
                  if os.path.basename(path).startswith(("libcuda.so", "libnvidia-"))})
os.write(3, json.dumps({"problems": problems, "folders": folders}).encode())
)";

// No list and no object if the process failed.
nlohmann::json said_in(const ProcessResult& result) {
  return result.fine() ? parse_foreign(result.protocol) : nlohmann::json();
}

nlohmann::json said_by(const fs::path& python, PythonText text, std::stop_token stop) {
  return said_in(run_trusted(trusted_python(python, text), std::move(stop)));
}

// A list of paths.
std::vector<fs::path> paths_said(const fs::path& python, PythonText text, std::stop_token stop) {
  const auto said = said_by(python, text, std::move(stop));
  std::vector<fs::path> paths;
  if (said.is_array())
    for (const auto& path : said) paths.emplace_back(path.get<std::string>());
  return paths;
}

}  // namespace

fs::path default_python(const fs::path& asked) {
  // A path is the caller's: children start in folders of their own. A bare name is looked for in
  // PATH.
  if (!asked.empty()) return asked.has_parent_path() ? fs::absolute(asked) : asked;
  const fs::path ours = source_tree() / ".cache/python/bin/python";
  return ours.is_absolute() && fs::exists(ours) ? ours : fs::path("python3");
}

ImportCheck check_import(const fs::path& python, const fs::path& site_packages,
                         const ExpectedTorch& expected, BuildRights rights, std::stop_token stop) {
  ProcessSpec spec;
  spec.command = expected.is_torch()
                     ? std::vector<std::string>{python.string(), "-c", import_program}
                     : std::vector<std::string>{python.string(), "-c", import_other,
                                                expected.module, site_packages.string()};
  spec.environment = clean_environment("/tmp");
  spec.environment["PYTHONDONTWRITEBYTECODE"] = "1";
  spec.environment["PYTHONNOUSERSITE"] = "1";  // anybody may write below its home
  if (!site_packages.empty()) spec.environment["PYTHONPATH"] = site_packages.string();
  spec.folder = "/";  // "" is on the path of -c: nothing of that name may lie there
  spec.timeout_seconds = 180;
  add_library_folders(spec.environment, driver_folders());
  if (auto* confinement = std::get_if<Confinement>(&rights))
    confinement->shown.push_back(site_packages);
  const ProcessResult result = run_untrusted(spec, rights, std::move(stop));
  ImportCheck check;
  const auto said = parse_foreign(result.protocol);
  if (!result.fine() || !said.is_object()) {
    check.broken = "import " + expected.module + " " + result.describe();
    check.machine_failed = result.cannot_tell();
    return check;
  }
  check.torch = {text_in(said, "version"), text_in(said, "git_version"), text_in(said, "path")};
  check.python = text_in(said, "python");
  check.broken = mismatch(check.torch, expected);
  return check;
}

std::vector<fs::path> gpu_libraries(const fs::path& python, std::stop_token stop) {
  return paths_said(python, gpu_libraries_program, std::move(stop));
}

bool DeviceUse::any() const {
  return std::ranges::any_of(problems, [](const auto& one) { return one.second.empty(); });
}

DeviceUse device_use(const fs::path& python, const Confinement* confinement, std::stop_token stop) {
  ProcessSpec spec = trusted_python(python, device_use_program);
  add_library_folders(spec.environment, driver_folders());
  // Where LD_LIBRARY_PATH leads to is the machine's, and nothing of a build is there yet.
  const BuildRights rights = confinement
                                 ? BuildRights(*confinement)
                                 : BuildRights(Unconfined("it compares with a confined process"));
  const auto said = said_in(run_untrusted(spec, rights, stop));
  DeviceUse use;
  if (!said.is_object()) return use;
  use.problems = said.at("problems").get<std::map<std::string, std::string>>();
  for (const auto& folder : said.at("folders")) use.folders.emplace_back(folder.get<std::string>());
  return use;
}

std::vector<fs::path> python_folders(const fs::path& python, std::stop_token stop) {
  std::vector<fs::path> folders = paths_said(python, folders_program, std::move(stop));
  if (python.is_absolute()) folders.push_back(python);  // it may be a script that starts another
  return folders;
}

std::map<std::string, std::string> installed_packages(const fs::path& python,
                                                      std::stop_token stop) {
  std::map<std::string, std::string> packages;
  const auto said = said_by(python, packages_program, std::move(stop));
  if (said.is_object())
    for (const auto& [name, version] : said.items())
      if (version.is_string()) packages[name] = version.get<std::string>();
  return packages;
}

std::string compile_byte_code(const fs::path& python, const fs::path& folder,
                              const std::set<std::string>& files, BuildRights rights,
                              const ByteCodeLimits& limits, std::stop_token stop) {
  ProcessSpec spec;
  spec.command = {python.string(), "-I", "-m", "compileall", "-qq"};
  if (files.empty()) {
    const int jobs = std::min(8, usable_cpus());
    spec.command.insert(spec.command.end(), {"-j", std::to_string(jobs), folder.string()});
  } else {
    spec.command.insert(spec.command.end(), {"-i", "-"});
    for (const auto& file : files)
      if (file.ends_with(".py")) spec.input += (folder / file).string() + "\n";
    if (spec.input.empty()) return {};
  }
  spec.environment = clean_environment("/tmp");
  spec.folder = "/";
  spec.timeout_seconds = limits.seconds;
  spec.output_bytes = 16 << 20;
  spec.grows = folder;
  spec.grows_bytes = limits.bytes;
  if (auto* confinement = std::get_if<Confinement>(&rights)) confinement->written.push_back(folder);
  const ProcessResult result = run_untrusted(spec, rights, std::move(stop));
  if (result.wrote_too_much())
    return "its Python files translate to more than " + std::to_string(limits.bytes >> 20) +
           " MiB of byte code";
  if (result.timed_out)
    return "its Python files take more than " +
           std::to_string(clamped_integer<int>(limits.seconds)) + " s to translate";
  return {};
}

}  // namespace nightjar::runner
