// A control group of the kernel for the processes of one build. It counts all that they take, also
// what belongs to no process: files in memory, shared memory, buffers of sockets. Used by the guard
// of processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace nightjar::runner {

// Makes room for groups of builds beside this process, where it is alone in a group that it may
// divide (cgroup v2, as under systemd's Delegate=). Call it before starting further agents. Later
// calls change nothing.
void make_room_for_groups();

class MemoryGroup {
 public:
  // nullopt: this process may make no group, or none that counts memory, or `most_bytes` is 0.
  static std::optional<MemoryGroup> make(std::int64_t most_bytes);
  MemoryGroup(MemoryGroup&& other) noexcept;
  MemoryGroup& operator=(MemoryGroup&&) = delete;
  // Removes the group, whose processes have ended.
  ~MemoryGroup();

  // The file to which a process writes "0" to enter the group.
  std::filesystem::path entrance() const { return folder_ / "cgroup.procs"; }
  // Whether the kernel ended a process because the group had no more memory.
  bool overran() const;
  // Ends all its processes at once, where the kernel can (Linux 5.14, cgroup v2).
  void kill() const;

 private:
  explicit MemoryGroup(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;  // empty: it belongs to another object now
};

}  // namespace nightjar::runner
