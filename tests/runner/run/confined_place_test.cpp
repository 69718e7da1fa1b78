#include "runner/run/confined_place.hpp"

#include <catch2/catch.hpp>

#include "runner/build/python.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/files.hpp"
#include "tests/support/heard_log.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/variable.hpp"

namespace fs = std::filesystem;
using namespace nightjar;
using namespace nightjar::runner;
using Catch::Contains;

namespace {

// A machine with a device, whose driver lies outside of the system's folders.
struct DeviceMachine {
  Scratch scratch;
  RunPlace place{.cache = scratch / "cache",
                 .python = scratch / "python",
                 .workloads = scratch / "workloads",
                 .torchbench = {}};

  // `needed`: what the driver reads. `library_path`: how its Python finds the driver; otherwise
  // only this process's own LD_LIBRARY_PATH tells.
  explicit DeviceMachine(const fs::path& needed, bool library_path = true) {
    for (const char* folder : {"cache", "workloads", "driver", "elsewhere"})
      fs::create_directory(scratch / folder);
    fs::copy(CUDA_DOUBLE_LIBRARY, scratch / "driver/libcuda.so.1");
    write_output(scratch / "driver/settings", "");
    write_output(scratch / "elsewhere/settings", "");
    const std::string found = "\nexport LD_LIBRARY_PATH=" + (scratch / "driver").string();
    write_output(place.python, "#!/bin/sh\nexport CUDA_DOUBLE=" + (scratch / needed).string() +
                                   (library_path ? found : "") +
                                   "\nexec /usr/bin/python3 \"$@\"\n");
    fs::permissions(place.python, fs::perms::owner_all);
  }
};

}  // namespace

TEST_CASE("Confined builds use the device of a driver that lies outside of the system's folders") {
  if (!confinement_problem().empty()) return;
  DeviceMachine machine("driver/settings");
  const DeviceUse found = device_use(machine.place.python, nullptr, {});
  CHECK(found.problems.at("libcuda.so.1").empty());
  CHECK(found.folders == std::vector{machine.scratch / "driver"});
  CHECK(confine(machine.place, {ConfinementMode::required}, {}) == "namespaces");
  CHECK(std::holds_alternative<Confinement>(machine.place.rights.value()));
}

TEST_CASE("A driver that only the agent's LD_LIBRARY_PATH tells of is found, confined or not") {
  if (!confinement_problem().empty()) return;
  DeviceMachine machine("driver/settings", false);
  CHECK_FALSE(device_use(machine.place.python, nullptr, {}).any());
  const Variable path("LD_LIBRARY_PATH", "/nowhere:" + (machine.scratch / "driver").string());
  CHECK(device_use(machine.place.python, nullptr, {}).any());
  CHECK(confine(machine.place, {ConfinementMode::required}, {}) == "namespaces");
  const auto& confinement = std::get<Confinement>(machine.place.rights.value());
  CHECK(device_use(machine.place.python, &confinement, {}).any());
}

TEST_CASE("Builds are not confined where that would take the device from them") {
  if (!confinement_problem().empty()) return;
  DeviceMachine machine("elsewhere/settings");
  const HeardLog heard;
  CHECK(confine(machine.place, {ConfinementMode::preferred}, {}) == "none");
  CHECK(std::holds_alternative<Unconfined>(machine.place.rights.value()));
  CHECK_THAT(heard.lines(), Contains("a confined process cannot use this machine's device; "
                                     "libcuda.so.1: cuInit answers 100"));
  CHECK_THROWS_WITH(confine(machine.place, {ConfinementMode::required}, {}),
                    Contains("cuInit answers 100; show by --visible what the driver needs"));

  ConfinementRequest shown{ConfinementMode::required, {machine.scratch / "elsewhere"}, {}};
  CHECK(confine(machine.place, shown, {}) == "namespaces");
}

TEST_CASE("A device that works for no process hinders no confinement") {
  if (!confinement_problem().empty()) return;
  DeviceMachine machine("nowhere");
  CHECK_FALSE(why_not_confined(machine.place, {}, {}));
  CHECK(device_use(machine.place.python, nullptr, {}).problems.at("libcuda.so.1") ==
        "cuInit answers 100");
}
