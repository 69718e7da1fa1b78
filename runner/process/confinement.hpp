// What a process sees of this machine that runs a build which nobody trusts. It has no network,
// sees no other process, and what it leaves behind ends with it. `nightjar-confine`
// (runner/confine) does it; spawn.cpp starts that in front of the command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "storage/model/enum.hpp"

namespace nightjar::runner {

struct ProcessSpec;
struct ProcessResult;

// Folders and files besides /usr, /opt and others of the system. If one place lies in another, the
// inner one decides. Places that are not named do not exist inside.
struct Confinement {
  std::vector<std::filesystem::path> shown;    // read-only
  std::vector<std::filesystem::path> written;  // as they are
  std::vector<std::filesystem::path> scratch;  // empty, in memory, gone with the process
  std::vector<std::filesystem::path> hidden;   // empty
  std::int64_t scratch_bytes = 2LL << 30;      // of all scratch, with /tmp and /dev/shm
};

// required: nothing of a build runs unconfined. preferred: it does where this machine cannot
// confine, after a warning.
NIGHTJAR_ENUM(ConfinementMode, required, preferred, off);

// Says why the code of builds may do what the runner may. Nobody is it by leaving something out.
struct Unconfined {
  explicit Unconfined(std::string_view reason) : why(reason) {}
  std::string why;
};

// What the code of builds may do here, as the operator decided.
using BuildRights = std::variant<Unconfined, Confinement>;

// The command that runs the specification's command confined, for an empty environment.
std::vector<std::string> confined_command(const ProcessSpec& spec, const Confinement& confinement);

// Makes a result that is nightjar-confine's own failure one of a process that never started.
void note_confinement_failure(ProcessResult& result);

// What an operator does about most problems.
constexpr const char* allow_confinement =
    "allow user namespaces (sysctl user.max_user_namespaces=10000, and where the system has it "
    "kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0)";

// Tries it: empty if processes can be confined here, else why not.
std::string confinement_problem();

}  // namespace nightjar::runner
