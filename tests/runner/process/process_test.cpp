#include "runner/process/process.hpp"

#include <algorithm>
#include <dirent.h>
#include <fstream>
#include <signal.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "runner/machine/fingerprint.hpp"
#include "runner/process/cpu_quota.hpp"
#include "runner/process/memory.hpp"
#include "runner/process/memory_group.hpp"
#include "runner/process/process_tree.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/variable.hpp"

namespace fs = std::filesystem;
using namespace nightjar::runner;

namespace {

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.command = {"sh", "-c", script};
  spec.environment = clean_environment("/tmp");
  spec.timeout_seconds = 20;
  return spec;
}

ProcessSpec python(const std::string& script) {
  ProcessSpec spec = shell("");
  spec.command = {"python3", "-c", script};
  return spec;
}

bool is_alive(pid_t pid) {
  return ::kill(pid, 0) == 0;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* dir = ::opendir("/proc/self/fd");
  while (::readdir(dir)) ++count;
  ::closedir(dir);
  return count;
}

}  // namespace

TEST_CASE("A process gets its input and is heard on stdout, stderr and descriptor 3") {
  ProcessSpec spec = shell("cat; echo oops >&2; echo '{\"event\": 1}' >&3; exit 7");
  spec.input = "hello\n";
  const ProcessResult result = run_trusted(spec);
  CHECK(result.exit_code == 7);
  CHECK(result.output == "hello\noops\n");
  CHECK(result.protocol == "{\"event\": 1}\n");
  CHECK_FALSE(result.fine());
  CHECK(result.describe() == "ended with exit code 7: oops");
}

TEST_CASE("What forked processes share is weighed once") {
  // 4 processes of 200 MB, of which each has changed nothing.
  ProcessSpec spec = python(
      "import os, time\nblock = b'x' * (200 << 20)\nfor i in range(3):\n"
      "    if os.fork() == 0: time.sleep(3); os._exit(0)\n"
      "for i in range(3): os.wait()");
  spec.memory_bytes = 400 << 20;
  CHECK(run_trusted(spec).fine());
}

TEST_CASE("A run that is ended for its memory says how much it took") {
  ProcessSpec spec = python("import time\nblock = b'x' * (200 << 20)\ntime.sleep(100)");
  spec.memory_bytes = 100 << 20;
  const ProcessResult result = run_trusted(spec);
  CHECK(result.out_of_memory);
  CHECK(result.describe().find("; it took more than 100 MiB") != std::string::npos);
}

TEST_CASE("A build is left all memory but a reserve") {
  constexpr std::int64_t gib = 1 << 30;
  CHECK(budget_of(16 * gib).most == 15 * gib);
  CHECK(budget_of(16 * gib).floor == gib / 2);
  CHECK(budget_of(1024 * gib).most == 1016 * gib);
  CHECK(budget_of(gib).most == gib - (128 << 20));
  CHECK(budget_of(0).most == 0);
  const auto total = memory_of_machine();
  CHECK(total > 0);
  CHECK(total <= ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE));
  CHECK(available_memory() > 0);
}

TEST_CASE("What a control group has left counts, with the files that make room") {
  const Scratch scratch;
  const auto add = [&](const char* name, const char* limit, const char* used, const char* text) {
    spit(scratch / name / limit, "104857600\n");
    spit(scratch / name / used, "94371840\n");
    spit(scratch / name / "memory.stat", text);
    return scratch / name;
  };
  const OwnGroup unified{add("v2", "memory.max", "memory.current",
                             "anon 1\nshmem 4096\ninactive_file 1048576\nslab_reclaimable 2\n"),
                         true};
  const OwnGroup old{add("v1", "memory.limit_in_bytes", "memory.usage_in_bytes",
                         "shmem 1\ntotal_shmem 8192\ntotal_active_file 2097152\n"),
                     false};
  CHECK(available_memory({unified}) == (11 << 20) + 2);
  CHECK(available_memory({old}) == 12 << 20);
  CHECK(shared_memory({old, unified}) == 8192);
  CHECK(shared_memory({unified}) == 4096);
  spit(unified.folder / "memory.max", "max\n");
  CHECK(available_memory({unified}) > 100 << 20);  // the machine's
}

TEST_CASE("A process gets what a GPU's driver reads from the environment, and no token") {
  const Variable driver("NVIDIA_DRIVER_CAPABILITIES", "compute"),
      token("NIGHTJAR_TEST_TOKEN", "secret");
  const auto passed = clean_environment("/home");
  CHECK(passed.at("NVIDIA_DRIVER_CAPABILITIES") == "compute");
  CHECK_FALSE(passed.contains("NIGHTJAR_TEST_TOKEN"));
}

TEST_CASE("A trusted process is not told to load code from elsewhere") {
  const Scratch scratch;
  for (const char* name : {"PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "BASH_ENV"}) {
    ProcessSpec spec = shell("true");
    spec.environment[name] = scratch.path();
    CHECK_THROWS_AS(run_trusted(spec), std::logic_error);
    CHECK(run_untrusted(spec, Unconfined("a test")).fine());
  }
}

TEST_CASE("A trusted Python runs nothing of its folder, of a home, or of what others name") {
  const Scratch scratch;
  for (const char* module : {"json.py", "sitecustomize.py", "usercustomize.py"})
    spit(scratch / module, "open(" + ("'" + (scratch / "ran").string() + "'") + ", 'w')\n");
  ProcessSpec spec = trusted_python("python3", "import json, os; os.write(3, b'heard')");
  spec.folder = scratch.path();
  for (const char* python : {"python3.11", "python3.12", "python3.13"}) {
    const fs::path home = scratch / "home/.local/lib" / python / "site-packages";
    spit(home / "usercustomize.py", slurp(scratch / "usercustomize.py"));
    spit(home / "evil.pth", "import os; open('" + (scratch / "ran").string() + "', 'w')\n");
  }
  spec.environment["HOME"] = scratch / "home";
  CHECK(run_trusted(spec).protocol == "heard");
  CHECK_FALSE(fs::exists(scratch / "ran"));
}

TEST_CASE("How a Python program ended begins with the last place that is not in a library") {
  ProcessResult result;
  result.exit_code = 1;
  result.output =
      "Traceback (most recent call last):\n  File \"/home/me/mine.py\", line 9, in <module>\n    "
      "f()\n"
      "  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\n    "
      "raise\nValueError: no JSON\n";
  CHECK(result.describe() == "ended with exit code 1: mine.py, line 9: ValueError: no JSON");
  result.output = "  File \"/home/me/mine.py\", line 3\n    def\nSyntaxError: invalid syntax\n";
  CHECK(result.describe() ==
        "ended with exit code 1: mine.py, line 3: SyntaxError: invalid syntax");
  result.output = "  File \"/home/me/mine.py\", line\n";
  CHECK(result.describe() == "ended with exit code 1:   File \"/home/me/mine.py\", line");
}

TEST_CASE("How a program ended holds no control characters of its output") {
  ProcessResult result;
  result.exit_code = 1;
  result.output = std::string(
      "first\n\x1b[31mred\0\xE2\x80\xAE"
      "end\n",
      21);
  CHECK(result.describe() == "ended with exit code 1:  [31mred  end");
}

TEST_CASE("The end of an output is its last thirty lines at most") {
  ProcessResult result;
  CHECK(result.end_of_output() == "");
  result.output = "one\ntwo\n\n";
  CHECK(result.end_of_output() == "one\ntwo");
  result.output = "first\n";
  for (int line = 0; line < 30; ++line) result.output += std::to_string(line) + "\n";
  CHECK(result.end_of_output().substr(0, 4) == "0\n1\n");
}

TEST_CASE("Input larger than a pipe reaches a process that answers meanwhile") {
  ProcessSpec spec = shell("cat");
  spec.input.assign(600000, 'x');
  const ProcessResult result = run_trusted(spec);
  CHECK(result.fine());
  CHECK(result.output == spec.input);
}

TEST_CASE("A process that closes its input early does not hurt the runner") {
  ::signal(SIGPIPE, SIG_IGN);
  ProcessSpec spec = shell("exec 0<&-; sleep 0.1");
  spec.input.assign(600000, 'x');
  CHECK(run_trusted(spec).exit_code == 0);
}

TEST_CASE("A program that does not exist is a start error") {
  ProcessSpec spec;
  spec.command = {"/nowhere/python"};
  const ProcessResult result = run_trusted(spec);
  CHECK(result.start_error == "cannot start /nowhere/python: No such file or directory");
  CHECK_FALSE(result.fine());
}

TEST_CASE("A crash is told by its signal") {
  const ProcessResult result = run_trusted(shell("kill -SEGV $$"));
  CHECK(result.signal == SIGSEGV);
  CHECK_FALSE(result.exit_code.has_value());
}

TEST_CASE("A hanging process is ended at its time-out with all it forked") {
  // The grandchild ignores SIGTERM, leaves the session and outlives its parent.
  ProcessSpec spec = shell("setsid sh -c 'trap \"\" TERM; echo $$ >&3; sleep 100' & sleep 100");
  spec.timeout_seconds = 0.5;
  const ProcessResult result = run_trusted(spec);
  CHECK(result.timed_out);
  CHECK(result.describe() == "timed out after 0.5 s");
  CHECK(result.seconds < 5);
  const int grandchild = std::atoi(result.protocol.c_str());
  REQUIRE(grandchild > 0);
  CHECK_FALSE(is_alive(grandchild));
}

TEST_CASE("A time-out is told in as many digits as it needs") {
  ProcessResult result;
  result.timed_out = true;
  result.seconds = 1800.04;
  CHECK(result.describe() == "timed out after 1800 s");
  result.seconds = 0.531;
  CHECK(result.describe() == "timed out after 0.5 s");
  result.timeout_seconds = 1'000'000;
  CHECK(result.describe() == "timed out after 1000000 s");
  result.timeout_seconds = 0.05;
  CHECK(result.describe() == "timed out after 0.05 s");
}

TEST_CASE("What a process leaves behind in the background ends with it") {
  const ProcessResult result =
      run_trusted(shell("(setsid sleep 100 & echo $! >&3) ; sleep 100 & echo $! >&3; exit 0"));
  CHECK(result.exit_code == 0);
  CHECK(result.seconds < 5);
  int first = 0, second = 0;
  REQUIRE(std::sscanf(result.protocol.c_str(), "%d %d", &first, &second) == 2);
  CHECK_FALSE(is_alive(first));
  CHECK_FALSE(is_alive(second));
  CHECK(own_children().empty());
}

TEST_CASE("A process that hands itself on by forking, and ends, does not outlive its run") {
  const Scratch scratch;
  const std::string file = (scratch / "alive").string();
  // Twenty such chains, whose processes live for a moment and leave the session. They end by
  // themselves too.
  ProcessSpec spec = python(
      "import os, time\nend = time.time() + 5\n"
      "for chain in range(20):\n    if os.fork() == 0: break\n"
      "else:\n    while not os.path.exists('" +
      file +
      "'): pass\n    os._exit(0)\n"
      "out = os.open('" +
      file +
      "', os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
      "while time.time() < end:\n    if os.fork(): os._exit(0)\n    os.setsid()\n"
      "    os.write(out, b'.')\n");
  CHECK(run_trusted(spec).fine());
  const std::string last = slurp(file);
  ::usleep(100'000);
  CHECK(slurp(file) == last);
  CHECK(own_children().empty());
}

TEST_CASE("A process that forks without end is stopped at its limit of processes") {
  // Bounded by itself too, in case the guard does not work.
  ProcessSpec spec = python(
      "import os, time\n"
      "for i in range(60):\n"
      "    if os.fork() == 0: time.sleep(100)\n"
      "time.sleep(100)\n");
  spec.processes = 20;
  const ProcessResult result = run_trusted(spec);
  CHECK(result.flooded == "processes");
  CHECK(own_children().empty());
}

TEST_CASE("A process that eats memory is stopped at its limit") {
  ProcessSpec spec = python(
      "import time\nblocks = []\n"
      "for i in range(40):\n    blocks.append(b'x' * (16 << 20)); time.sleep(0.02)\n"
      "time.sleep(100)\n");
  spec.memory_bytes = 200 << 20;
  const ProcessResult result = run_trusted(spec);
  CHECK(result.out_of_memory);
  CHECK(result.seconds < 15);
}

TEST_CASE("Memory of children counts") {
  ProcessSpec spec = python(
      "import os, time\n"
      "for i in range(4):\n    if os.fork() == 0: block = b'x' * (80 << 20); time.sleep(100)\n"
      "time.sleep(100)\n");
  spec.memory_bytes = 200 << 20;
  CHECK(run_trusted(spec).out_of_memory);
}

TEST_CASE("Memory that belongs to no process counts") {
  const char* const file_program =
      "fd = os.memfd_create('x')\n"
      "for i in range(20): os.write(fd, b'x' * (16 << 20)); time.sleep(0.02)\n";
  const char* const segment_program =
      "libc = ctypes.CDLL(None)\nlibc.shmat.restype = ctypes.c_void_p\n"
      "segment = libc.shmget(0, ctypes.c_size_t(320 << 20), 0o1600)\n"
      "at = libc.shmat(segment, None, 0)\nlibc.shmctl(segment, 0, None)\n"
      "ctypes.memset(at, 1, 320 << 20)\n"
      "if os.fork() == 0: os._exit(0)\n";
  const char* const buffers =
      "pairs = [socket.socketpair() for i in range(480)]\n"
      "for one, other in pairs:\n    one.setblocking(False)\n    try:\n"
      "        while True: one.send(b'x' * 65536)\n    except BlockingIOError: pass\n";
  const std::string begin = "import ctypes, os, socket, time\n", end = "time.sleep(100)\n";
  for (const char* script : {file_program, segment_program}) {
    ProcessSpec spec = python(begin + script + end);
    spec.memory_bytes = 200 << 20;
    INFO(script);
    CHECK(run_trusted(spec).out_of_memory);
    const ProcessResult result = run_untrusted(spec, Unconfined("a test"));
    CHECK(result.out_of_memory);
    CHECK(result.describe().find("; it took more than 200 MiB") != std::string::npos);
    spec.memory_bytes = 600 << 20;
    spec.timeout_seconds = 2;
    CHECK(run_untrusted(spec, Unconfined("a test")).timed_out);
  }
  if (!MemoryGroup::make(1 << 30)) {
    WARN("the kernel lets no group count memory here");
    return;
  }
  ProcessSpec spec = python(begin + buffers + end);
  spec.memory_bytes = 60 << 20;
  CHECK(run_untrusted(spec, Unconfined("a test")).out_of_memory);
}

TEST_CASE("A process whose folder grows by more than it may is ended") {
  const Scratch scratch;
  spit(scratch / "before", std::string(3 << 20, 'x'));
  ProcessSpec spec = shell("head -c 3M /dev/zero >" + (scratch / "file").string());
  spec.grows = scratch.path();
  spec.grows_bytes = 4 << 20;
  CHECK(run_trusted(spec).fine());
  spec.command.back() = "head -c 3M /dev/zero >" + (scratch / "more").string() + "; sleep 100";
  spec.grows_bytes = 2 << 20;
  const ProcessResult result = run_trusted(spec);
  CHECK(result.wrote_too_much());
  CHECK(result.seconds < 50);
  const std::string nameless = (scratch / "nameless").string();
  spec.command.back() = "exec 8>" + nameless + "; rm " + nameless +
                        "; head -c 100M /dev/zero >&8; sync -d " + scratch.path().string() +
                        "; sleep 100";
  CHECK(run_trusted(spec).wrote_too_much());
}

TEST_CASE("Output is kept up to its cap and then ends the process") {
  ProcessSpec spec = shell("yes");
  spec.output_bytes = 100000;
  const ProcessResult result = run_trusted(spec);
  CHECK(result.flooded == "output");
  CHECK(result.output.size() == 100000);
}

TEST_CASE("Too much on descriptor 3 ends the process") {
  ProcessSpec spec = shell("yes >&3");
  spec.protocol_bytes = 100000;
  CHECK(run_trusted(spec).flooded == "protocol");
}

TEST_CASE("A stop ends the process at once") {
  std::stop_source stop;
  std::jthread later([&] { stop.request_stop(); });
  const ProcessResult result = run_trusted(shell("sleep 100"), stop.get_token());
  CHECK(result.stopped);
  CHECK(result.seconds < 5);
}

TEST_CASE("A process that SIGTERM ended shortly before a stop was stopped, not broken") {
  for (const char* command : {"kill -TERM $$", "exit 143"}) {
    std::stop_source stop;
    std::jthread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stop.request_stop();
    });
    CHECK(run_trusted(shell(command), stop.get_token()).stopped);
  }
  const ProcessResult alone = run_trusted(shell("kill -TERM $$"));
  CHECK_FALSE(alone.stopped);
  CHECK(alone.signal == SIGTERM);
}

TEST_CASE("A process inherits neither environment nor descriptors") {
  ::setenv("NIGHTJAR_TEST_SECRET", "hidden", 1);
  const std::ofstream inherited("/dev/null");
  const ProcessResult result = run_trusted(shell("env; ls /proc/self/fd"));
  ::unsetenv("NIGHTJAR_TEST_SECRET");
  CHECK(result.output.find("hidden") == std::string::npos);
  // 0 to 3, and the one that ls reads the folder with.
  const auto listing = result.output.substr(result.output.rfind("\n0\n") + 1);
  CHECK(listing == "0\n1\n2\n3\n4\n");
}

TEST_CASE("Running processes leaks neither descriptors nor zombies") {
  run_trusted(shell("true"));
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 5; ++i) run_trusted(shell("sleep 0 & true"));
  CHECK(open_descriptors() == before);
  CHECK(own_children().empty());
}

TEST_CASE("A run is pinned to the last of the allowed CPUs") {
  const auto allowed = allowed_cpus();
  REQUIRE_FALSE(allowed.empty());
  CHECK(cpus_for(1) == std::vector<int>{allowed.back()});
  CHECK(cpus_for(1000) == allowed);
  ProcessSpec spec =
      python("import os\nos.write(3, str(sorted(os.sched_getaffinity(0))).encode())");
  spec.cpus = cpus_for(1);
  CHECK(run_trusted(spec).protocol == "[" + std::to_string(allowed.back()) + "]");
}

TEST_CASE("With a log, all of the output is on the disk and its end in memory") {
  const Scratch scratch;
  ProcessSpec spec = shell("seq 1 200000; echo the end >&2");
  spec.log = scratch / "log";
  spec.output_bytes = 16 << 20;
  const ProcessResult result = run_trusted(spec);
  CHECK(result.fine());
  const std::string log = slurp(spec.log);
  CHECK(log.starts_with("1\n2\n3\n"));
  CHECK(log.ends_with("200000\nthe end\n"));
  CHECK(result.output.size() < 600u << 10);
  CHECK(result.output.ends_with("200000\nthe end\n"));
  CHECK(run_trusted(spec).fine());
  CHECK(slurp(spec.log).size() == 2 * log.size());  // it is appended to
}

TEST_CASE("A log has the output's limit, and one that cannot be written is said at once") {
  const Scratch scratch;
  ProcessSpec spec = shell("yes");
  spec.log = scratch / "log";
  spec.output_bytes = 1 << 20;
  CHECK(run_trusted(spec).flooded == "output");
  CHECK(std::filesystem::file_size(spec.log) == 1u << 20);
  spec.log = scratch / "nowhere/log";
  CHECK(run_trusted(spec).start_error.find("cannot write the log") == 0);
}
