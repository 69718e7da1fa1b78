#include "runner/confine/new_root.hpp"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runner/confine/failure.hpp"

namespace nightjar::confine {
namespace fs = std::filesystem;
namespace {

// Programs and libraries. /etc is not among them, since secrets lie there: only what the C library
// and compilers read.
constexpr const char* system_folders[] = {"/usr",   "/bin",   "/sbin", "/lib",
                                          "/lib32", "/lib64", "/opt",  "/nix/store"};
// What programs read about processors, memory and devices that compute. All else of /sys is not
// there: root owns it, so that root could read addresses of network cards, serial numbers, and the
// memory of devices without any right.
constexpr const char* machine_shown[] = {"/sys/devices/system/cpu",
                                         "/sys/devices/system/node",
                                         "/sys/kernel/mm/transparent_hugepage",
                                         "/sys/kernel/mm/hugepages",
                                         "/sys/dev/char",
                                         "/sys/class/drm",
                                         "/sys/class/kfd",
                                         "/sys/devices/virtual/kfd",
                                         "/sys/module/amdgpu/initstate",
                                         "/sys/module/amdgpu/version",
                                         "/sys/module/nvidia/initstate",
                                         "/sys/module/nvidia/version"};
constexpr const char* pci_devices = "/sys/bus/pci/devices";
constexpr const char* kernel_settings[] = {
    "alternatives",  "ld.so.cache", "ld.so.conf", "ld.so.conf.d",   "passwd", "group",
    "nsswitch.conf", "hosts",       "localtime",  "timezone",       "OpenCL", "nvidia",
    "os-release",    "vulkan",      "glvnd",      "ssl/openssl.cnf"};
// What programs read in /proc about processors, memory and devices, beside their own processes. All
// else there tells of the host: its addresses, drivers, disks and keys.
constexpr std::string_view of_machine[] = {"cgroups", "cpuinfo", "devices", "driver", "filesystems",
                                           "loadavg", "meminfo", "stat",    "swaps",  "sys",
                                           "sysvipc", "uptime",  "version", "vmstat", "zoneinfo"};
// Not those of a network, as /dev/infiniband.
constexpr const char* shown_devices[] = {"null",    "zero", "full", "random",
                                         "urandom", "dri",  "kfd",  "dxg"};

// During the work /old is the machine's root and /new becomes the new one.
fs::path old_place(const fs::path& path) {
  return "/old" / path.relative_path();
}
fs::path new_place(const fs::path& path) {
  return "/new" / path.relative_path();
}

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

void restrict(const fs::path& mounted, std::uint64_t flags, unsigned how) {
  mount_attr attributes{};
  attributes.attr_set = flags;
  require(
      ::syscall(SYS_mount_setattr, AT_FDCWD, mounted.c_str(), how, &attributes, sizeof attributes),
      "make " + mounted.string() + " read-only");
}

void bind(const fs::path& from, const fs::path& to) {
  require(::mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr),
          "show " + from.string());
}

void mount_memory(const fs::path& at, const std::string& options) {
  require(::mount("tmpfs", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()),
          "mount a folder in memory");
}

// Something to mount over: a folder, or a file for anything else.
void make_target(const fs::path& target, bool folder) {
  if (folder) return static_cast<void>(fs::create_directories(target));
  fs::create_directories(target.parent_path());
  if (!fs::exists(fs::symlink_status(target))) std::ofstream(target).close();
}

class NewRoot {
 public:
  explicit NewRoot(std::vector<Place> places) : places_(std::move(places)) {
    for (const char* path : system_folders) places_.push_back({path, Access::shown});
    for (const char* name : kernel_settings)
      places_.push_back({fs::path("/etc") / name, Access::shown});
    for (const char* path : {"/tmp", "/dev/shm"}) places_.push_back({path, Access::scratch});
    for (const char* path : machine_shown) places_.push_back({path, Access::shown});
    add_computing_devices();
  }

  void fill() {
    for (Place& place : places_) place.path = resolved(place.path, 0);
    std::stable_sort(places_.begin(), places_.end(),
                     [](const Place& a, const Place& b) { return a.path < b.path; });
    for (const Place& place : places_) add(place);
    for (const auto& [path, target] : links_) add_link(path, target);
    for (const fs::path& empty : emptied_) restrict(empty, MOUNT_ATTR_RDONLY, 0);
    add_devices();
  }

 private:
  // Displays and accelerators, without the files that are a device's memory.
  void add_computing_devices() {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(old_place(pci_devices), none)) {
      std::string kind;
      std::ifstream(entry.path() / "class") >> kind;
      if (!kind.starts_with("0x03") && !kind.starts_with("0x12")) continue;
      const fs::path device = pci_devices / entry.path().filename();
      places_.push_back({device, Access::shown});
      for (const auto& file : fs::directory_iterator(entry.path(), none)) {
        const std::string name = file.path().filename();
        if (name.starts_with("resource") || name == "rom" || name == "vpd" || name == "config")
          places_.push_back({device / name, Access::hidden});
      }
    }
  }

  // Follows symbolic links as they are on the machine, and remembers them for the new root.
  fs::path resolved(const fs::path& path, int depth) {
    if (depth > 40) throw std::runtime_error("too many symbolic links in " + path.string());
    fs::path done = "/";
    for (auto part = path.begin(); part != path.end(); ++part) {
      if (*part == "/" || part->empty() || *part == ".") continue;
      if (*part == "..") {
        done = done.parent_path();
        continue;
      }
      const fs::path next = done / *part;
      std::error_code none;
      const fs::path target = fs::read_symlink(old_place(next), none);
      if (!none) {
        links_.emplace_back(next, target);
        fs::path rest = done / target;  // an absolute target replaces what is before it
        for (++part; part != path.end(); ++part) rest /= *part;
        return resolved(rest, depth + 1);
      }
      done = next;
    }
    return done;
  }

  // The nearest place above `path` that is there already.
  const Place* above(const fs::path& path) const {
    for (auto place = added_.rbegin(); place != added_.rend(); ++place)
      if (is_below(path, place->path)) return &*place;
    return nullptr;
  }

  void add(const Place& place) {
    const Place* folder = above(place.path);
    const fs::path from = old_place(place.path), to = new_place(place.path);
    const bool shown_above =
        folder && (folder->access == Access::shown || folder->access == Access::written);
    if (place.access == Access::scratch)
      add_scratch(to, place.path == "/tmp" || place.path == "/dev/shm" ? 01777 : 0700);
    else if (!fs::exists(from))
      return;
    else if (place.access == Access::hidden)
      shown_above ? add_empty(to, fs::is_directory(from)) : static_cast<void>(0);
    else if (place.access == Access::written)
      show(from, to, 0);
    else if (!folder || folder->access != Access::shown)
      show(from, to, MOUNT_ATTR_RDONLY);
    else
      return;
    added_.push_back(place);
  }

  static void show(const fs::path& from, const fs::path& to, std::uint64_t flags) {
    make_target(to, fs::is_directory(from));
    bind(from, to);
    restrict(to, flags | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, AT_RECURSIVE);
  }

  void add_scratch(const fs::path& to, mode_t mode) {
    const fs::path from = "/scratch/" + std::to_string(added_.size());
    require(::mkdir(from.c_str(), mode), "make a scratch folder");
    require(::chmod(from.c_str(), mode), "make a scratch folder");
    make_target(to, true);
    bind(from, to);
  }

  // Read-only only in the end, since places below it may still be shown.
  void add_empty(const fs::path& to, bool folder) {
    const fs::path from = "/empty/" + std::to_string(added_.size());
    make_target(from, folder);
    bind(from, to);
    emptied_.push_back(to);
  }

  static void add_link(const fs::path& path, const fs::path& target) {
    const fs::path to = new_place(path);
    if (fs::exists(fs::symlink_status(to))) return;
    fs::create_directories(to.parent_path());
    fs::create_symlink(target, to);
  }

  static void add_devices() {
    std::vector<fs::path> devices;
    for (const char* name : shown_devices) devices.push_back(fs::path("/dev") / name);
    for (const auto& entry : fs::directory_iterator("/old/dev"))
      if (entry.path().filename().string().starts_with("nvidia"))
        devices.push_back(fs::path("/dev") / entry.path().filename());
    for (const fs::path& device : devices) {
      if (!fs::exists(old_place(device))) continue;
      make_target(new_place(device), fs::is_directory(old_place(device)));
      bind(old_place(device), new_place(device));
      // A device can be written to all the same, but its owner cannot change or remove it.
      restrict(new_place(device), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, AT_RECURSIVE);
    }
    fs::create_symlink("/proc/self/fd", "/new/dev/fd");
    for (int fd = 0; const char* name : {"stdin", "stdout", "stderr"})
      fs::create_symlink("/proc/self/fd/" + std::to_string(fd++), fs::path("/new/dev") / name);
  }

  std::vector<Place> places_, added_;
  std::vector<std::pair<fs::path, fs::path>> links_;
  std::vector<fs::path> emptied_;
};

// Before Linux 6.14 this setting is the whole machine's, and root could change it.
bool has_own_process_limit() {
  utsname kernel{};
  int major = 0, minor = 0;
  ::uname(&kernel);
  return std::sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 14));
}

// RLIMIT_NPROC does not bind root. This does, where the kernel has it.
void limit_processes(unsigned long threads) {
  constexpr unsigned long least = 301;  // the kernel takes no less
  std::ofstream("/new/proc/sys/kernel/pid_max") << std::max(threads, least);
}

// Copies from /proc/modules only the drivers of devices that compute: NVIDIA's driver looks there
// for its own module. The others tell what else the machine has.
void copy_computing_modules(const fs::path& from, const fs::path& to) {
  std::ifstream all(from);
  std::ofstream some(to);
  for (std::string line; std::getline(all, line);)
    if (line.starts_with("nvidia") || line.starts_with("amdgpu")) some << line << '\n';
}

// Shows what takes the place of an entry of /proc that is no process: itself if programs need it,
// else nothing.
fs::path shown_of_machine(const fs::path& path) {
  const std::string name = path.filename();
  if (name == "modules") return "/empty/modules";
  if (std::ranges::find(of_machine, name) != std::end(of_machine)) return path;
  return fs::is_directory(path) ? "/empty/folder" : "/empty/file";
}

// All of /proc that is no process becomes read-only: root owns it, and so may change some of it
// without any right. What is of its own processes stays writable, since CUDA's driver writes its
// threads' names there as of version 570, and finds no device where it cannot.
void protect_machine(const fs::path& proc) {
  std::vector<fs::path> machine;
  for (const auto& entry : fs::directory_iterator(proc)) {
    const std::string name = entry.path().filename();
    const bool is_process = name.find_first_not_of("0123456789") == std::string::npos;
    if (!is_process && !entry.is_symlink()) machine.push_back(entry.path());
  }
  make_target("/empty/file", false);
  make_target("/empty/folder", true);
  copy_computing_modules(proc / "modules", "/empty/modules");
  for (const fs::path& path : machine) {
    bind(shown_of_machine(path), path);
    restrict(path, MOUNT_ATTR_RDONLY, AT_RECURSIVE);
  }
}

// Mounts a /proc that shows the processes of the namespace. Processes inside cannot mount another.
void add_proc(unsigned long threads) {
  fs::create_directory("/new/proc");
  require(::mount("proc", "/new/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr),
          "mount /proc");
  if (has_own_process_limit()) limit_processes(threads);
  std::ofstream limit("/new/proc/sys/user/max_user_namespaces");
  limit << "0";
  limit.close();  // what is open for writing cannot become read-only
  if (!limit) throw std::runtime_error("cannot forbid further user namespaces");
  protect_machine("/new/proc");
}

}  // namespace

void enter_new_root(const Plan& plan) {
  require(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "part the mounts");
  mount_memory("/tmp", "mode=0755,size=4m");
  for (const char* name : {"/tmp/old", "/tmp/new", "/tmp/scratch", "/tmp/empty"})
    fs::create_directory(name);
  require(::syscall(SYS_pivot_root, "/tmp", "/tmp/old"), "change the root folder");
  require(::chdir("/"), "enter the root folder");
  bind("/new", "/new");
  mount_memory("/scratch", "mode=0755,nr_inodes=1000000,size=" + plan.scratch_bytes);
  NewRoot(plan.places).fill();
  add_proc(plan.threads);
  restrict("/new", MOUNT_ATTR_RDONLY, 0);
  require(::chdir("/new"), "enter the new root folder");
  require(::syscall(SYS_pivot_root, ".", "."), "change the root folder again");
  require(::umount2(".", MNT_DETACH), "let the machine's root folder go");
  require(::chdir("/"), "enter the root folder");
}

}  // namespace nightjar::confine
