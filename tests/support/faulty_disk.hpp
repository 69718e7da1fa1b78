// A disk that fails under SQLite: errors, no room, and power cuts that lose what was not synced.
// Used by storage's tests and by the simulation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

namespace nightjar::storage::test {

// While it lives, SQLite opens its files through it (a VFS around the system's), and it keeps
// account of what `database` and its logs have not synced. Close all databases before it goes.
//
// `first` counts operations from the call on; 0 is the next one. A change is a write, a truncation,
// a sync or the removal of a file. There is one fault of each kind at a time.
class FaultyDisk {
 public:
  FaultyDisk(const std::filesystem::path& database, std::uint64_t seed);
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  // Lets `count` operations fail, reads included. A write that fails has written its first half.
  void fail(std::int64_t first, std::int64_t count);
  // From that change on, no file grows until there is room again.
  void fill(std::int64_t first);
  void make_room();
  // That change and all that follows do not happen, until restore_power().
  void cut_power(std::int64_t first);
  // Nothing fails any more. The power stays cut if it is.
  void heal();

  bool is_cut() const;
  // No file may be open. Each change that was not synced is there, is not there, or is torn at a
  // sector's border, as the seed draws it.
  void restore_power();
  // Another program has replaced the database durably.
  void forget_unsynced();

  std::int64_t operations() const;  // so far, reads included

  // Nothing fails and nothing is counted while one lives.
  class Pause {
   public:
    explicit Pause(FaultyDisk* disk);  // nullptr: does nothing
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    FaultyDisk* disk_;
  };

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace nightjar::storage::test
