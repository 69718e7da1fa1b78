#include "runner/confine/filter.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "runner/confine/failure.hpp"

// By hand, since the whole of it is a list: libseccomp would be larger than this program.
namespace nightjar::confine {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t audit_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t audit_architecture = AUDIT_ARCH_AARCH64;
#else
#error "the numbers of this architecture's system calls are not checked"
#endif
constexpr std::uint32_t foreign = 0x40000000;  // x32's calls have this bit

struct Refused {
  long call;
  int error;
};

// ENOSYS where programs have another way for kernels that lack the call, EPERM for all else. Newer
// calls have the same number everywhere, and Debian 12 does not name all of them.
constexpr Refused refused_calls[] = {
    // secrets of the user and of the kernel
    {SYS_keyctl, EPERM},
    {SYS_add_key, EPERM},
    {SYS_request_key, EPERM},
    {SYS_syslog, EPERM},
    // other processes
    {SYS_ptrace, EPERM},
    {SYS_process_vm_readv, EPERM},
    {SYS_process_vm_writev, EPERM},
    // parts of the kernel that are large, and that no workload needs
    {SYS_io_uring_setup, ENOSYS},
    {SYS_io_uring_enter, ENOSYS},
    {SYS_io_uring_register, ENOSYS},
    {SYS_perf_event_open, EPERM},
    {SYS_bpf, EPERM},
    {SYS_userfaultfd, EPERM},
    {SYS_fanotify_init, EPERM},
    // namespaces and mounts
    {SYS_unshare, EPERM},
    {SYS_setns, EPERM},
    {SYS_clone3, ENOSYS},  // its flags lie in memory, where a filter cannot look
    {SYS_mount, EPERM},
    {SYS_umount2, EPERM},
    {SYS_pivot_root, EPERM},
    {SYS_chroot, EPERM},
    {SYS_open_by_handle_at, EPERM},
    {SYS_name_to_handle_at, EPERM},
    {428, EPERM},   // open_tree
    {429, EPERM},   // move_mount
    {430, EPERM},   // fsopen
    {431, EPERM},   // fsconfig
    {432, EPERM},   // fsmount
    {433, EPERM},   // fspick
    {442, EPERM},   // mount_setattr
    {457, ENOSYS},  // statmount
    {458, ENOSYS},  // listmount
    {467, EPERM},   // open_tree_attr
    // the machine
    {SYS_init_module, EPERM},
    {SYS_finit_module, EPERM},
    {SYS_delete_module, EPERM},
    {SYS_kexec_load, EPERM},
    {SYS_kexec_file_load, EPERM},
    {SYS_reboot, EPERM},
    {SYS_swapon, EPERM},
    {SYS_swapoff, EPERM},
    {SYS_acct, EPERM},
    {SYS_quotactl, EPERM},
    {443, EPERM},  // quotactl_fd
    {SYS_sethostname, EPERM},
    {SYS_setdomainname, EPERM},
    {SYS_settimeofday, EPERM},
    {SYS_clock_settime, EPERM},
    {SYS_vhangup, EPERM},
#if defined(__x86_64__)
    {SYS_iopl, EPERM},
    {SYS_ioperm, EPERM},
    {SYS_modify_ldt, EPERM},
    {SYS_uselib, ENOSYS},
    {SYS__sysctl, ENOSYS},
#endif
};

constexpr std::uint32_t namespace_flags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                          CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                          CLONE_NEWNET;

using Filter = std::vector<sock_filter>;

void add(Filter& filter, int code, std::uint32_t value, int if_true = 0, int if_false = 0) {
  filter.push_back({static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true),
                    static_cast<std::uint8_t>(if_false), value});
}

void load(Filter& filter, std::size_t offset) {
  add(filter, BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

// The lower half of an argument, which is all that the kernel takes of an int.
void load_argument(Filter& filter, std::size_t number) {
  load(filter, offsetof(seccomp_data, args) + number * sizeof(std::uint64_t));
}

void answer(Filter& filter, std::uint32_t action) {
  add(filter, BPF_RET | BPF_K, action);
}

void refuse(Filter& filter, int error) {
  answer(filter, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
}

// `rest` decides about `call`, in all cases.
void add_case(Filter& filter, long call, const Filter& rest) {
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0,
      static_cast<int>(rest.size()));
  filter.insert(filter.end(), rest.begin(), rest.end());
}

// Loopback and pipes between processes; of netlink, what getifaddrs() asks.
Filter of_sockets() {
  Filter rest;
  load_argument(rest, 0);
  for (const std::uint32_t family : {AF_UNIX, AF_INET, AF_INET6}) {
    add(rest, BPF_JMP | BPF_JEQ | BPF_K, family, 0, 1);
    answer(rest, SECCOMP_RET_ALLOW);
  }
  add(rest, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 1, 0);
  refuse(rest, EAFNOSUPPORT);
  load_argument(rest, 2);
  add(rest, BPF_JMP | BPF_JEQ | BPF_K, NETLINK_ROUTE, 1, 0);
  refuse(rest, EPROTONOSUPPORT);
  answer(rest, SECCOMP_RET_ALLOW);
  return rest;
}

Filter of_clone() {
  Filter rest;
  load_argument(rest, 0);
  add(rest, BPF_JMP | BPF_JSET | BPF_K, namespace_flags, 0, 1);
  refuse(rest, EPERM);
  answer(rest, SECCOMP_RET_ALLOW);
  return rest;
}

// A call whose number alone decides is not looked up each time: the kernel remembers which of them
// are allowed, as of version 5.11. So their order does not matter.
Filter filter_of_calls() {
  Filter filter;
  load(filter, offsetof(seccomp_data, arch));
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, audit_architecture, 1, 0);
  refuse(filter, ENOSYS);
  load(filter, offsetof(seccomp_data, nr));
  add(filter, BPF_JMP | BPF_JGE | BPF_K, foreign, 0, 1);
  refuse(filter, ENOSYS);
  for (const auto& [call, error] : refused_calls) {
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
    refuse(filter, error);
  }
  add_case(filter, SYS_socket, of_sockets());
  add_case(filter, SYS_socketpair, of_sockets());
  add_case(filter, SYS_clone, of_clone());
  answer(filter, SECCOMP_RET_ALLOW);
  return filter;
}

}  // namespace

void filter_system_calls() {
  Filter filter = filter_of_calls();
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  // Without the flag, kernels before 5.16 make memory slower for whoever has a filter.
  require(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program),
          "filter system calls");
}

}  // namespace nightjar::confine
