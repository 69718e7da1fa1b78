#include "tests/support/faulty_disk.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <optional>
#include <random>
#include <sqlite3.h>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "storage/base/fd.hpp"

namespace nightjar::storage::test {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t sector = 512;

enum class Operation { read, write, truncate, sync, remove };

int error_code(Operation operation) {
  switch (operation) {
    case Operation::read:
      return SQLITE_IOERR_READ;
    case Operation::write:
      return SQLITE_IOERR_WRITE;
    case Operation::truncate:
      return SQLITE_IOERR_TRUNCATE;
    case Operation::sync:
      return SQLITE_IOERR_FSYNC;
    case Operation::remove:
      return SQLITE_IOERR_DELETE;
  }
  return SQLITE_IOERR;
}

// One change of a file since it was synced last, and how to undo it.
struct Change {
  std::int64_t offset = 0;
  std::string before, after;
  std::int64_t size_before = 0;
  bool truncates = false;  // to `offset`
};
using Changes = std::vector<Change>;

[[noreturn]] void fail_on(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), "cannot settle " + path);
}

void put(const Fd& file, const std::string& path, std::string_view bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(file.get(), bytes.data(), bytes.size(), offset);
    if (written < 0) fail_on(path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
}

void resize(const Fd& file, const std::string& path, std::int64_t size) {
  if (::ftruncate(file.get(), size) != 0) fail_on(path);
}

}  // namespace

struct FaultyDisk::State {
  std::string database;
  sqlite3_vfs* real = sqlite3_vfs_find(nullptr);
  sqlite3_vfs faulty = *real;
  std::map<std::string, Changes> unsynced;  // by path
  std::mt19937_64 random;
  std::int64_t operations = 0, changes = 0;
  std::int64_t failing_from = 0, failing_until = 0;  // of operations
  std::optional<std::int64_t> full_from, cut_at;     // of changes
  bool cut = false;
  int pauses = 0;

  State(const fs::path& path, std::uint64_t seed) : random(seed) {
    database = (fs::canonical(path.parent_path()) / path.filename()).string();
  }

  bool is_ours(const std::string& path) const {
    return path == database || path == database + "-wal" || path == database + "-journal";
  }

  // SQLITE_OK, or the error that the operation ends with. Counts it.
  int begin(Operation operation) {
    const bool is_change = operation != Operation::read;
    if (!cut && pauses == 0 && is_change && cut_at == changes) cut = true;
    if (cut) return error_code(operation);
    if (pauses > 0) return SQLITE_OK;
    const std::int64_t number = operations++;
    if (is_change) ++changes;
    const bool fails = number >= failing_from && number < failing_until;
    return fails ? error_code(operation) : SQLITE_OK;
  }
  bool has_room() const { return pauses > 0 || !full_from || changes <= *full_from; }

  double uniform() { return static_cast<double>(random() >> 11) * 0x1p-53; }

  // What the disk had got of a file when the power went. `share`: of what was not synced.
  void settle(const std::string& path, const Changes& lost, double share) {
    const Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file) return;
    for (auto change = lost.rbegin(); change != lost.rend(); ++change) {
      put(file, path, change->before, change->offset);
      resize(file, path, change->size_before);
    }
    for (const Change& change : lost)
      if (change.truncates) {
        if (uniform() < share) resize(file, path, change.offset);
      } else {
        put_some_sectors(file, path, change, share);
      }
  }

  void put_some_sectors(const Fd& file, const std::string& path, const Change& change,
                        double share) {
    const auto end = change.offset + static_cast<std::int64_t>(change.after.size());
    for (auto at = change.offset; at < end;) {
      const auto next = std::min((at / sector + 1) * sector, end);
      const std::string_view all = change.after;
      if (uniform() < share)
        put(file, path,
            all.substr(static_cast<std::size_t>(at - change.offset),
                       static_cast<std::size_t>(next - at)),
            at);
      at = next;
    }
  }
};

namespace {

using State = FaultyDisk::State;

// What SQLite holds of an open file; that of the system's VFS follows it in memory.
struct OpenFile {
  sqlite3_file base;
  State* disk;
  Changes* changes;  // nullptr: nobody keeps account of this file
};

OpenFile& open_file_of(sqlite3_file* file) {
  return *reinterpret_cast<OpenFile*>(file);
}
sqlite3_file* real_of(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(&open_file_of(file) + 1);
}
State& disk_of(sqlite3_vfs* vfs) {
  return *static_cast<State*>(vfs->pAppData);
}

std::int64_t size_of(sqlite3_file* real) {
  sqlite3_int64 size = 0;
  real->pMethods->xFileSize(real, &size);
  return size;
}

std::string read_from(sqlite3_file* real, std::int64_t offset, std::int64_t count) {
  std::string bytes(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), '\0');
  if (!bytes.empty())
    real->pMethods->xRead(real, bytes.data(), static_cast<int>(bytes.size()), offset);
  return bytes;
}

int close_file(sqlite3_file* file) {
  return real_of(file)->pMethods->xClose(real_of(file));
}

int read_file_at(sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
  const int error = open_file_of(file).disk->begin(Operation::read);
  sqlite3_file* real = real_of(file);
  return error != SQLITE_OK ? error : real->pMethods->xRead(real, to, count, offset);
}

int write_file_at(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
  OpenFile& open = open_file_of(file);
  sqlite3_file* real = real_of(file);
  const int error = open.disk->begin(Operation::write);
  if (open.disk->cut) return error;
  const std::int64_t size = size_of(real);
  if (!open.disk->has_room() && offset + count > size) return SQLITE_FULL;
  const int kept = error == SQLITE_OK ? count : count / 2;
  if (open.changes)
    open.changes->push_back({offset,
                             read_from(real, offset, std::min<std::int64_t>(kept, size - offset)),
                             {static_cast<const char*>(from), static_cast<std::size_t>(kept)},
                             size});
  const int written = kept == 0 ? SQLITE_OK : real->pMethods->xWrite(real, from, kept, offset);
  return error != SQLITE_OK ? error : written;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  OpenFile& open = open_file_of(file);
  sqlite3_file* real = real_of(file);
  const int error = open.disk->begin(Operation::truncate);
  if (error != SQLITE_OK) return error;
  const std::int64_t before = size_of(real);
  if (open.changes)
    open.changes->push_back({size, read_from(real, size, before - size), {}, before, true});
  return real->pMethods->xTruncate(real, size);
}

// The real disk need not wait: its power is not cut.
int sync_open_file(sqlite3_file* file, int) {
  OpenFile& open = open_file_of(file);
  const int error = open.disk->begin(Operation::sync);
  if (error == SQLITE_OK && open.changes) open.changes->clear();
  return error;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return real_of(file)->pMethods->xFileSize(real_of(file), size);
}
int lock_file(sqlite3_file* file, int kind) {
  return real_of(file)->pMethods->xLock(real_of(file), kind);
}
int unlock_file(sqlite3_file* file, int kind) {
  return real_of(file)->pMethods->xUnlock(real_of(file), kind);
}
int check_reserved_lock(sqlite3_file* file, int* is_locked) {
  return real_of(file)->pMethods->xCheckReservedLock(real_of(file), is_locked);
}
int file_control(sqlite3_file* file, int what, void* argument) {
  return real_of(file)->pMethods->xFileControl(real_of(file), what, argument);
}
int sector_size(sqlite3_file* file) {
  return real_of(file)->pMethods->xSectorSize(real_of(file));
}
int device_characteristics(sqlite3_file* file) {
  return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}
int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  return real_of(file)->pMethods->xShmMap(real_of(file), region, size, extend, memory);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}
void order_shared(sqlite3_file* file) {
  real_of(file)->pMethods->xShmBarrier(real_of(file));
}
int unmap_shared(sqlite3_file* file, int remove) {
  return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

// Version 2: with shared memory for the log's index, without mapping the file itself.
const sqlite3_io_methods methods = {2,
                                    close_file,
                                    read_file_at,
                                    write_file_at,
                                    truncate_file,
                                    sync_open_file,
                                    file_size,
                                    lock_file,
                                    unlock_file,
                                    check_reserved_lock,
                                    file_control,
                                    sector_size,
                                    device_characteristics,
                                    map_shared,
                                    lock_shared,
                                    order_shared,
                                    unmap_shared,
                                    nullptr,
                                    nullptr};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* got) {
  State& disk = disk_of(vfs);
  OpenFile& open = open_file_of(file);
  open.base.pMethods = nullptr;
  if (disk.cut) return SQLITE_CANTOPEN;
  open.disk = &disk;
  open.changes = name && disk.is_ours(name) ? &disk.unsynced[name] : nullptr;
  const int error = disk.real->xOpen(disk.real, name, real_of(file), flags, got);
  if (error == SQLITE_OK) open.base.pMethods = &methods;
  return error;
}

int remove_file(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  State& disk = disk_of(vfs);
  const int error = disk.begin(Operation::remove);
  if (error != SQLITE_OK) return error;
  if (disk.is_ours(name)) disk.unsynced[name].clear();
  return disk.real->xDelete(disk.real, name, sync_folder);
}

}  // namespace

FaultyDisk::FaultyDisk(const fs::path& database, std::uint64_t seed)
    : state_(std::make_unique<State>(database, seed)) {
  sqlite3_vfs& faulty = state_->faulty;
  faulty.zName = "faulty";
  faulty.pAppData = state_.get();
  faulty.szOsFile = static_cast<int>(sizeof(OpenFile)) + state_->real->szOsFile;
  faulty.xOpen = open_file;
  faulty.xDelete = remove_file;
  sqlite3_vfs_register(&faulty, 1);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(&state_->faulty);
  sqlite3_vfs_register(state_->real, 1);
}

void FaultyDisk::fail(std::int64_t first, std::int64_t count) {
  state_->failing_from = state_->operations + first;
  state_->failing_until = state_->failing_from + count;
}

void FaultyDisk::fill(std::int64_t first) {
  state_->full_from = state_->changes + first;
}

void FaultyDisk::cut_power(std::int64_t first) {
  state_->cut_at = state_->changes + first;
}

void FaultyDisk::make_room() {
  state_->full_from.reset();
}

void FaultyDisk::heal() {
  state_->failing_until = 0;
  make_room();
  state_->cut_at.reset();
}

bool FaultyDisk::is_cut() const {
  return state_->cut;
}

void FaultyDisk::restore_power() {
  const double share = .5 * static_cast<double>(state_->random() % 3);  // nothing, some or all
  for (const auto& [path, changes] : state_->unsynced) state_->settle(path, changes, share);
  forget_unsynced();
  fs::remove(state_->database + "-shm");
  state_->cut_at.reset();
  state_->cut = false;
}

void FaultyDisk::forget_unsynced() {
  for (auto& [path, changes] : state_->unsynced) changes.clear();
}

std::int64_t FaultyDisk::operations() const {
  return state_->operations;
}

FaultyDisk::Pause::Pause(FaultyDisk* disk) : disk_(disk) {
  if (disk_) ++disk_->state_->pauses;
}

FaultyDisk::Pause::~Pause() {
  if (disk_) --disk_->state_->pauses;
}

}  // namespace nightjar::storage::test
