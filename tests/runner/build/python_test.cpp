#include "runner/build/python.hpp"

#include <catch2/catch.hpp>

#include "runner/process/process.hpp"
#include "tests/support/scratch.hpp"

namespace fs = std::filesystem;
using namespace nightjar::runner;

namespace {

struct OwnPython {
  fs::path python, site_packages;
};

// A Python whose packages are those that a test puts there.
OwnPython python_of_its_own(const fs::path& folder) {
  ProcessSpec make = trusted_python("python3",
                                    "import sys, sysconfig, venv\nfolder = sys.stdin.read()\n"
                                    "venv.create(folder, symlinks=True)\n"
                                    "print(sysconfig.get_path('purelib', vars={'base': folder}))");
  make.input = folder;
  const ProcessResult made = run_trusted(make);
  REQUIRE(made.fine());
  return {folder / "bin/python", made.output.substr(0, made.output.find('\n'))};
}

}  // namespace

TEST_CASE("a Python is found from where its path was written") {
  CHECK(default_python("env/bin/python") == fs::current_path() / "env/bin/python");
  CHECK(default_python("/usr/bin/python3") == "/usr/bin/python3");
  CHECK(default_python("python3.12") == "python3.12");
  CHECK_FALSE(default_python("").empty());
}

TEST_CASE("the folders of NVIDIA's libraries are those that the Python's packages brought") {
  const Scratch scratch;
  const auto [python, site] = python_of_its_own(scratch / "env [1]");
  fs::create_directories(site / "nvidia/cudnn/lib");
  fs::create_directories(site / "nvidia/cu13/lib");
  fs::create_directories(site / "nvidia/cu13/include");
  const auto found = gpu_libraries(python, {});
  REQUIRE(found.size() == 2);
  CHECK(found[0] == site / "nvidia/cu13/lib");
  CHECK(found[1] == site / "nvidia/cudnn/lib");
  CHECK(gpu_libraries(scratch / "no python", {}).empty());
}

TEST_CASE("the packages of a Python are known by the names that indexes use") {
  const Scratch scratch;
  const auto [python, site] = python_of_its_own(scratch / "env");
  for (const auto& [name, version] :
       std::map<std::string, std::string>{{"Torch_Vision.Extra", "0.28.0"}, {"pip", "26.0"}}) {
    const fs::path info = site / (name + "-" + version + ".dist-info");
    fs::create_directories(info);
    std::ofstream(info / "METADATA")
        << "Metadata-Version: 2.1\nName: " << name << "\nVersion: " << version << "\n";
  }
  const auto found = installed_packages(python, {});
  CHECK(found.at("torch-vision-extra") == "0.28.0");
  CHECK_FALSE(found.contains("pip"));
  CHECK(installed_packages(scratch / "no python", {}).empty());
}
