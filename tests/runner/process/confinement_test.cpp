#include "runner/process/confinement.hpp"

#include <csignal>

#include <catch2/catch.hpp>

#include "runner/process/process.hpp"
#include "storage/base/files.hpp"
#include "tests/support/scratch.hpp"

namespace fs = std::filesystem;
using namespace nightjar;
using namespace nightjar::runner;

namespace {

// Where a machine cannot confine there is nothing to test here; how the runner then behaves is
// tested end to end.
bool can_confine() {
  static const std::string problem = confinement_problem();
  if (!problem.empty()) WARN("nothing is confined here: " + problem);
  return problem.empty();
}

struct ConfinedSpec : ProcessSpec {
  Confinement confinement;
};

ConfinedSpec confined(const std::string& script) {
  ConfinedSpec spec;
  spec.command = {"sh", "-c", script};
  spec.environment = clean_environment("/tmp");
  spec.timeout_seconds = 20;
  return spec;
}

ProcessResult run_confined(const ConfinedSpec& spec) {
  return run_untrusted(spec, spec.confinement);
}

std::string said(const ConfinedSpec& spec) {
  return run_confined(spec).output;
}

}  // namespace

TEST_CASE("A confined process is heard as any other, and ends as any other") {
  if (!can_confine()) return;
  ConfinedSpec spec = confined("cat; echo oops >&2; echo '{\"event\": 1}' >&3; exit 7");
  spec.input = "hello\n";
  const ProcessResult result = run_confined(spec);
  CHECK(result.exit_code == 7);
  CHECK(result.output == "hello\noops\n");
  CHECK(result.protocol == "{\"event\": 1}\n");
  CHECK(run_confined(confined("kill -SEGV $$")).signal == SIGSEGV);
}

TEST_CASE("A confined process has its own variables and folder, and no others") {
  if (!can_confine()) return;
  const Scratch scratch;
  ConfinedSpec spec = confined("pwd; env | grep -v '^PWD=' | sort | cut -d = -f 1 | tr '\\n' ' '");
  spec.confinement.shown.push_back(scratch.path());
  spec.folder = scratch.path();
  spec.environment = {{"PATH", "/usr/bin:/bin"}, {"LD_LIBRARY_PATH", "/nowhere"}};
  CHECK(said(spec) == scratch.path().string() + "\nLD_LIBRARY_PATH PATH ");
}

TEST_CASE("What is not named is not there, and what is shown cannot be changed") {
  if (!can_confine()) return;
  const Scratch scratch;
  fs::create_directories(scratch / "build/secrets");
  std::ofstream(scratch / "build/file") << "built\n";
  std::ofstream(scratch / "build/secrets/token") << "secret\n";
  std::ofstream(scratch / "token") << "secret\n";
  ConfinedSpec spec = confined("cd " + scratch.path().string() +
                               "; cat build/file; cat token; cat build/secrets/token"
                               "; echo x >>build/file; rm build/file; chmod 0 build/file"
                               "; ln build/file $TMPDIR/link; ls build/secrets | wc -l");
  spec.confinement.shown.push_back(scratch / "build");
  spec.confinement.hidden.push_back(scratch / "build/secrets");
  const std::string heard = said(spec);
  CHECK(heard.starts_with("built\n"));
  CHECK(heard.find("secret\n") == std::string::npos);
  CHECK(heard.ends_with("\n0\n"));
  CHECK(read_file(scratch / "build/file") == "built\n");
  CHECK(fs::hard_link_count(scratch / "build/file") == 1);
  CHECK((fs::status(scratch / "build/file").permissions() & fs::perms::owner_read) !=
        fs::perms::none);
}

TEST_CASE("A confined process may change what it is given, also inside what it is only shown") {
  if (!can_confine()) return;
  const Scratch scratch;
  fs::create_directories(scratch / "shown/written");
  ConfinedSpec spec = confined("echo made >" + (scratch / "shown/written/file").string());
  spec.confinement.shown.push_back(scratch / "shown");
  spec.confinement.written.push_back(scratch / "shown/written");
  CHECK(run_confined(spec).fine());
  CHECK(read_file(scratch / "shown/written/file") == "made\n");
}

TEST_CASE("What a confined process writes to its scratch folders is bounded and gone afterwards") {
  if (!can_confine()) return;
  const Scratch scratch;
  fs::create_directories(scratch / "home");
  const std::string file = (scratch / "home/file").string();
  ConfinedSpec spec = confined("head -c 3M /dev/zero >" + file + "; stat -c %s " + file +
                               "; head -c 3M /dev/zero >/dev/shm/more; stat -c %s /dev/shm/more");
  spec.confinement.scratch.push_back(scratch / "home");
  spec.confinement.scratch_bytes = 4 << 20;
  const std::string heard = said(spec);
  CHECK(heard.find("3145728\n") != std::string::npos);
  CHECK(heard.find("No space left on device") != std::string::npos);
  CHECK(heard.ends_with("1048576\n"));
  CHECK(fs::is_empty(scratch / "home"));
}

TEST_CASE("A confined process sees no network and no process but its own") {
  if (!can_confine()) return;
  CHECK(said(confined("tail -n +3 /proc/net/dev | cut -d : -f 1 | tr -d ' '")) == "lo\n");
  // The first process inside, the shell, and its children.
  const std::string ids = said(confined("echo /proc/[0-9]* | wc -w"));
  CHECK(std::stoi(ids) <= 4);
  const std::string outside = std::to_string(::getpid());
  CHECK_FALSE(run_confined(confined("kill -9 " + outside)).fine());
}

TEST_CASE("A confined process has no rights, and gets none by namespaces of its own") {
  if (!can_confine()) return;
  CHECK(said(confined("grep -E 'Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs' /proc/self/status | "
                      "cut -f 2 | sort -u")) == "0000000000000000\n1\n");
  CHECK_FALSE(run_confined(confined("unshare --user true")).fine());
  CHECK_FALSE(run_confined(confined("mount -t tmpfs none /tmp")).fine());
  CHECK_FALSE(run_confined(confined("echo 1 >/proc/sys/vm/drop_caches")).fine());
  CHECK_FALSE(run_confined(confined("chmod 0 /dev/null")).fine());
  CHECK(run_confined(confined("echo gone >/dev/null")).fine());
}

TEST_CASE("Of /proc a confined process may write to its own processes, and to nothing else") {
  if (!can_confine()) return;
  // As CUDA's driver names its threads.
  CHECK(said(confined("printf named >/proc/self/task/$$/comm && cat /proc/$$/comm")) == "named\n");
  const std::string machine = "find /proc -mindepth 1 -not -path '/proc/[0-9]*' -not -type l ";
  CHECK(said(confined(machine + "-writable -print 2>/dev/null")).empty());
  CHECK(said(confined(machine + "-maxdepth 1 -exec chmod u+w {} ';' -print 2>/dev/null")).empty());
  CHECK(said(confined("find /proc -maxdepth 1 -name cpuinfo")) == "/proc/cpuinfo\n");
}

TEST_CASE("A confined process makes no call that reaches what it does not need") {
  if (!can_confine()) return;
  // Each answers with the name of its error, or "done".
  constexpr const char* calls = R"(import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def said(name, answer):
    print(name, "done" if answer >= 0 else errno.errorcode[ctypes.get_errno()])
arm = os.uname().machine == "aarch64"
for name, number in (("add_key", 217 if arm else 248), ("keyctl", 219 if arm else 250),
        ("request_key", 218 if arm else 249), ("io_uring_setup", 425),
        ("perf_event_open", 241 if arm else 298), ("bpf", 280 if arm else 321),
        ("ptrace", 117 if arm else 101), ("process_vm_readv", 270 if arm else 310),
        ("userfaultfd", 282 if arm else 323), ("unshare", 97 if arm else 272),
        ("clone3", 435), ("fsopen", 430), ("open_by_handle_at", 265 if arm else 304),
        ("clone", 220 if arm else 56)):
    said(name, libc.syscall(number, 0x10000000 if name == "clone" else 0, 0, 0, 0, 0))
for name, family, kind in (("vsock", 40, 1), ("packet", 17, 3), ("alg", 38, 5), ("bluetooth", 31, 3),
        ("netfilter", 16, 3), ("unix", 1, 1), ("inet", 2, 1), ("inet6", 10, 1), ("route", 16, 3)):
    said(name, libc.socket(family, kind, 12 if name == "netfilter" else 0))
)";
  ConfinedSpec spec = confined("");
  spec.command = {"python3", "-c", calls};
  CHECK(said(spec) ==
        "add_key EPERM\nkeyctl EPERM\nrequest_key EPERM\nio_uring_setup ENOSYS\n"
        "perf_event_open EPERM\nbpf EPERM\nptrace EPERM\nprocess_vm_readv EPERM\n"
        "userfaultfd EPERM\nunshare EPERM\nclone3 ENOSYS\nfsopen EPERM\n"
        "open_by_handle_at EPERM\nclone EPERM\n"
        "vsock EAFNOSUPPORT\npacket EAFNOSUPPORT\nalg EAFNOSUPPORT\nbluetooth EAFNOSUPPORT\n"
        "netfilter EPROTONOSUPPORT\nunix done\ninet done\ninet6 done\nroute done\n");
}

#if defined(__x86_64__)
TEST_CASE("Calls in the numbers of other architectures are not known to a confined process") {
  if (!can_confine()) return;
  ConfinedSpec spec = confined("");
  spec.command = {"python3", "-c",
                  "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                  "print(libc.syscall(0x40000000 + 39), ctypes.get_errno())"};  // getpid of x32
  CHECK(said(spec) == "-1 38\n");
}
#endif

TEST_CASE("A confined process uses threads, forks, and talks over loopback and pipes") {
  if (!can_confine()) return;
  ConfinedSpec spec = confined("");
  spec.command = {"python3", "-c", R"(import multiprocessing, socket, threading
def answer(n): return n + 1
if __name__ == "__main__":
    heard = []
    thread = threading.Thread(target=lambda: heard.append(1)); thread.start(); thread.join()
    for method in ("fork", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool: heard += pool.map(abs, [-2])
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    server.accept()[0].sendall(b"3"); heard.append(int(client.recv(1)))
    print(heard, [name for _, name in socket.if_nameindex()])
)"};
  CHECK(said(spec) == "[1, 2, 2, 3] ['lo']\n");
}

TEST_CASE("Of /sys a confined process sees processors and devices that compute, and no network") {
  if (!can_confine()) return;
  CHECK(run_confined(confined("cat /sys/devices/system/cpu/online")).fine());
  CHECK(said(confined("find /sys -name address -o -name serial -o -name 'resource*' -size +0"))
            .empty());
  CHECK(said(confined("find /sys -writable -type f 2>/dev/null")).empty());
  // As root, files that nobody else may read.
  CHECK(said(confined("find /sys -type f -not -perm -o=r -readable")).empty());
  CHECK(said(confined("find /proc -maxdepth 1 -type f -not -perm -o=r -readable")).empty());
}

TEST_CASE("Of /proc a confined process sees what it needs, and nothing else of the host") {
  if (!can_confine()) return;
  for (const char* name :
       {"cmdline", "config.gz", "diskstats", "interrupts", "iomem", "ioports", "kallsyms", "kcore",
        "keys", "key-users", "latency_stats", "modules", "partitions", "sched_debug", "timer_list",
        "timer_stats", "version_signature"}) {
    const std::string file = "/proc/" + std::string(name);
    INFO(file);
    CHECK(said(confined("head -c 4096 " + file + " 2>/dev/null | grep -Ev '^(nvidia|amdgpu)'"))
              .empty());
  }
  CHECK(said(confined("ls -A /proc/acpi /proc/bus /proc/fs /proc/irq /proc/scsi 2>/dev/null | "
                      "grep -v '^/proc' | tr -d '\n'"))
            .empty());
  for (const char* name : {"cpuinfo", "meminfo", "stat", "self/status", "filesystems"})
    CHECK(run_confined(confined("grep -q . /proc/" + std::string(name))).fine());
}

TEST_CASE("What a confined process leaves running ends with it") {
  if (!can_confine()) return;
  const Scratch scratch;
  const std::string file = (scratch / "alive").string();
  ConfinedSpec spec = confined("setsid sh -c 'exec >/dev/null 2>&1 3>&1; while :; do date +%N >" +
                               file + "; done' & while ! [ -s " + file + " ]; do :; done");
  spec.confinement.written.push_back(scratch.path());
  CHECK(run_confined(spec).fine());
  const auto last = read_file(file);
  ::usleep(100'000);
  CHECK(read_file(file) == last);
}

TEST_CASE("A confined process that forks without end is ended with all that it made") {
  if (!can_confine()) return;
  ConfinedSpec spec = confined("f() { f | f & f; }; f");
  spec.processes = 100;
  const ProcessResult result = run_confined(spec);
  CHECK_FALSE(result.fine());
  CHECK_FALSE(result.timed_out);
}

TEST_CASE("A confined program that does not exist is a start error, and no workload can fake one") {
  if (!can_confine()) return;
  ConfinedSpec spec = confined("");
  spec.command = {"/nowhere/python"};
  CHECK(run_confined(spec).start_error ==
        "cannot start /nowhere/python: No such file or directory");
  spec = confined("");
  spec.folder = "/nowhere";
  CHECK(run_confined(spec).start_error ==
        "cannot enter the folder /nowhere: No such file or directory");
  const ProcessResult fake = run_confined(confined("echo nightjar-confine: cannot; exit 125"));
  CHECK(fake.start_error.empty());
  CHECK(fake.exit_code == 124);
}
