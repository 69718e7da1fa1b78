#include <cstdlib>

#include <catch2/catch.hpp>

#include "runner/build/native_cache.hpp"
#include "runner/build/record.hpp"
#include "runner/format/measure_output.hpp"
#include "runner/machine/fingerprint.hpp"
#include "runner/machine/state.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/machine_class.hpp"
#include "storage/model/json.hpp"
#include "tests/runner/wheel.hpp"
#include "tests/support/heard_log.hpp"

using namespace nightjar;
using namespace nightjar::runner;

TEST_CASE("The machine class is the hash of the facts that make it, and the same twice") {
  const auto facts = machine_facts();
  for (const char* name : {"cpu_model", "cpu_count", "kernel", "memory_bytes", "thp", "governor",
                           "smt", "libc", "gpu", "driver", "pinning", "microcode", "firmware"})
    CHECK_FALSE(facts.at(name).empty());
  CHECK(machine_class(facts).fingerprint == machine_class(machine_facts()).fingerprint);
  CHECK(machine_class({{"a", "1"}, {"b", "2"}}).fingerprint == digest_of("a=1\nb=2\n"));
}

TEST_CASE("The revisions of microcode and firmware are facts, and not of the class") {
  const Scratch scratch;
  spit(scratch / "proc/cpuinfo",
       "processor\t: 0\nmodel name\t: EPYC\nmicrocode\t: 0xa0011d5\n\n"
       "processor\t: 1\nmodel name\t: EPYC\nmicrocode\t: 0xa0011d6\n");
  spit(scratch / "sys/class/dmi/id/bios_vendor", "Dell Inc.\n");
  spit(scratch / "sys/class/dmi/id/bios_version", "2.14.1\n");
  spit(scratch / "sys/class/dmi/id/bios_date", "05/13/2026\n");
  auto facts = firmware_facts(scratch.path());
  CHECK(facts == std::map<std::string, std::string>{{"firmware", "Dell Inc. 2.14.1 05/13/2026"},
                                                    {"microcode", "0xa0011d5"}});
  // A container has no board, and an ARM CPU no such line.
  CHECK(firmware_facts(scratch / "elsewhere") ==
        std::map<std::string, std::string>{{"firmware", "none"}, {"microcode", "none"}});
  facts["cpu_model"] = "EPYC";
  const Sha256 before = machine_class(facts).fingerprint;
  facts["microcode"] = facts["firmware"] = "new";
  CHECK(machine_class(facts).fingerprint == before);
}

TEST_CASE("The machine's state is within what is possible") {
  const MachineState state = MachineProbe().read();
  CHECK(state.load1 >= 0);
  CHECK((state.steal_share >= 0 && state.steal_share <= 1));
}

TEST_CASE("RECORD is read with quotes, without hash, and a malformed line is refused") {
  const std::string zeros(43, 'A');  // a digest of 32 bytes, as RECORD writes it
  const Record record =
      parse_record("\"torch/a,b.py\",sha256=" + zeros + ",3\r\ntorch-2.dist-info/RECORD,,\n");
  CHECK(record.at("torch/a,b.py").bytes == 3);
  CHECK(record.at("torch/a,b.py").sha256 == std::string(64, '0'));
  CHECK(record.at("torch-2.dist-info/RECORD").bytes == -1);
  CHECK_THROWS_AS(parse_record("torch/x.py\n"), MalformedRecord);
  CHECK_THROWS_AS(parse_record("torch/x.py,sha256=AAAA,3\n"), MalformedRecord);
  // It would hide the lines behind it, which then nothing verifies.
  CHECK_THROWS_AS(parse_record("\"torch/x.py,sha256=" + zeros + ",3\ntorch/y.py,,\n"),
                  MalformedRecord);
}

TEST_CASE("The native key follows LibTorch and the sources, and nothing else of a build") {
  const Scratch scratch;
  spit(scratch / "native/main.cpp", "int main() {}");
  const auto key_with = [&](const std::string& python, const std::string& library) {
    auto members = torch_members("2.15.0", "abc");
    members[2].text = python;
    members.push_back({"torch/lib/libtorch.so", library, ""});
    const auto record = record_of(members, "2.15.0");
    spit(scratch / "site" / record.name, record.text);
    return NativeCache(scratch / "cache", scratch / "native", Unconfined("a test"))
        .key(libtorch_of_build(scratch / "site"));
  };
  const std::string key = key_with("a", "1");
  CHECK(key == key_with("b", "1"));
  CHECK(key != key_with("a", "2"));
  spit(scratch / "native/models/mine.py", "a twin is no source of it");
  CHECK(key == key_with("a", "1"));
  spit(scratch / "native/main.cpp", "int main() { return 1; }");
  CHECK(key != key_with("a", "1"));
}

TEST_CASE(
    "The native key tells equal sources of two checkouts apart, since each has a workloads.json of "
    "its own") {
  const Scratch scratch;
  for (const char* checkout : {"first", "copy"})
    spit(scratch / checkout / "native/main.cpp", "int main() {}");
  const auto record = record_of(torch_members("2.15.0", "abc"), "2.15.0");
  spit(scratch / "site" / record.name, record.text);
  const auto libtorch = libtorch_of_build(scratch / "site");
  CHECK(
      NativeCache(scratch / "cache", scratch / "first/native", Unconfined("a test"))
          .key(libtorch) !=
      NativeCache(scratch / "cache", scratch / "copy/native", Unconfined("a test")).key(libtorch));
}

TEST_CASE("An unchanged LibTorch is compiled against once, whatever else of a build changes") {
  const Scratch scratch;
  spit(scratch / "native/CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(native NONE)
add_custom_target(program ALL COMMAND ${CMAKE_COMMAND} -E touch nightjar-native libnightjar-profiled.so))");
  const auto build = [&](const std::string& name, const std::string& python,
                         const std::string& library) {
    auto members = torch_members("2.15.0", "abc");
    members[2].text = python;
    members.push_back({"torch/lib/libtorch.so", library, ""});
    const auto record = record_of(members, "2.15.0");
    spit(scratch / name / record.name, record.text);
    std::filesystem::create_directories(scratch / name / "torch/include");
    return scratch / name;
  };
  const auto first = build("first", "a", "1"), same = build("same", "b", "1"),
             other = build("other", "a", "2");
  const NativeProgram made =
      NativeCache(scratch / "cache", scratch / "native", Unconfined("a test"))
          .make(libtorch_of_build(first), std::stop_token{});
  INFO(made.reason);
  REQUIRE(std::filesystem::exists(made.path));
  // If anything were to be compiled now, the stop would end it.
  std::stop_source stop;
  stop.request_stop();
  NativeCache later(scratch / "cache", scratch / "native", Unconfined("a test"));
  CHECK(later.make(libtorch_of_build(first), stop.get_token()).path == made.path);
  CHECK(later.make(libtorch_of_build(same), stop.get_token()).path == made.path);
  CHECK_THROWS_AS(later.make(libtorch_of_build(other), stop.get_token()), Stopped);
}

// A build's, with its record and no headers.
static LibTorch empty_libtorch(const Scratch& scratch) {
  const auto record = record_of(torch_members("2.15.0", "abc"), "2.15.0");
  spit(scratch / "site" / record.name, record.text);
  std::filesystem::create_directories(scratch / "site/torch/include");
  return libtorch_of_build(scratch / "site");
}

TEST_CASE("A link in the place of a compiled program shows nothing of the machine to its runs") {
  const Scratch scratch;
  spit(scratch / "token", "secret");
  spit(scratch / "native/CMakeLists.txt",
       "cmake_minimum_required(VERSION 3.20)\nproject(native NONE)\n"
       "add_custom_target(program ALL COMMAND ${CMAKE_COMMAND} -E touch libnightjar-profiled.so\n"
       "  COMMAND mkdir -p deep/er COMMAND ln -s " +
           (scratch / "token").string() + " deep/er/nightjar-native)\n");
  const NativeProgram made =
      NativeCache(scratch / "cache", scratch / "native", Unconfined("a test"))
          .make(empty_libtorch(scratch), {});
  CHECK(made.path.empty());
  CHECK(made.reason == "the native project made no nightjar-native");
}

TEST_CASE("What the compiler warns of in the native workloads is logged") {
  const Scratch scratch;
  spit(scratch / "native/CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(native NONE)
add_custom_target(program ALL
  COMMAND ${CMAKE_COMMAND} -E cat ${CMAKE_SOURCE_DIR}/said
  COMMAND ${CMAKE_COMMAND} -E touch nightjar-native libnightjar-profiled.so))");
  spit(scratch / "native/said", "compiling\nmodel.cpp:3:1: warning: odd\nmore\n");
  const HeardLog heard;
  const NativeProgram made =
      NativeCache(scratch / "cache", scratch / "native", Unconfined("a test"))
          .make(empty_libtorch(scratch), {});
  INFO(made.reason << heard.lines());
  CHECK(std::filesystem::exists(made.path));
  CHECK(heard.lines().find("[warning] compiling native workloads: model.cpp:3:1: warning: odd\n") !=
        std::string::npos);
}

TEST_CASE("A compiler's cache serves the native workloads only where one is named") {
  const Scratch scratch;
  spit(scratch / "native/CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(native NONE)
add_custom_target(program ALL
  COMMAND sh -c "echo $CCACHE_DIR,$CCACHE_DISABLE >nightjar-native" VERBATIM
  COMMAND ${CMAKE_COMMAND} -E touch libnightjar-profiled.so))");
  const LibTorch libtorch = empty_libtorch(scratch);
  const auto made = [&](const char* cache) {
    const NativeProgram program =
        NativeCache(scratch / cache, scratch / "native", Unconfined("a test")).make(libtorch, {});
    INFO(program.reason);
    return slurp(program.path);
  };
  const char* named = std::getenv("CCACHE_DIR");
  const std::string before = named ? named : "";
  ::unsetenv("CCACHE_DIR");
  CHECK(made("one") == ",1\n");
  ::setenv("CCACHE_DIR", "/kept", 1);
  CHECK(made("two") == "/kept,\n");
  if (before.empty())
    ::unsetenv("CCACHE_DIR");
  else
    ::setenv("CCACHE_DIR", before.c_str(), 1);
}

TEST_CASE("A LibTorch that a package installed is found below its prefix and known by its files") {
  const Scratch scratch;
  spit(scratch / "native/main.cpp", "int main() {}");
  spit(scratch / "usr/lib/some-arch/libtorch_cpu.so", "1");
  spit(scratch / "usr/lib/libother.so", "1");
  spit(scratch / "usr/include/ATen/ATen.h", "1");
  const LibTorch found = libtorch_at(scratch / "usr");
  CHECK(found.libraries == found.root / "lib/some-arch");
  CHECK(found.prefix == found.root);
  NativeCache cache(scratch / "cache", scratch / "native", Unconfined("a test"));
  const std::string key = cache.key(found);
  spit(scratch / "usr/lib/libother.so", "2");
  CHECK(cache.key(found) == key);
  spit(scratch / "usr/include/ATen/ATen.h", "2");
  CHECK(cache.key(found) != key);
  CHECK_THROWS_AS(libtorch_at(scratch / "native"), WrongUse);
  CHECK_THROWS_AS(libtorch_at(scratch / "nowhere"), WrongUse);
}

TEST_CASE("A measurement is written as JSON, CSV and table") {
  const auto entry = [](const char* name) { return CatalogEntry{*WorkloadName::parse(name)}; };
  RunResult run;
  run.samples = {{"latency", {0.1, 0.1}}, {"peak_cpu_memory", {2e9}}};
  run.checksum = 4.5;
  RunResult slower = run;
  slower.samples["latency"] = {0.3};
  Measurement measurement{{"2.15.0", "abc", "/x"}, {{"cpu_model", "m"}}, {}};
  measurement.after.steal_share = .25;
  measurement.workloads = {
      {entry("python/m/eval/cpu/fp32/b4/eager"), {run, slower}, RunStatus::measured, ""},
      {entry("python/m/eval/cpu/fp32/b8/eager"), {}, RunStatus::crashed, "ended by signal 11"},
      {entry("python/n/eval/cuda/fp32/b4/eager"), {}, RunStatus::unavailable, "no CUDA device"}};
  measurement.workloads[0].settings = {{"threads", "1"}};
  const auto json = nlohmann::json::parse(measurement_json(measurement));
  CHECK(json.at("state").at("after").at("steal_share") == .25);
  const auto items = json.at("items");
  CHECK(items[0].at("settings").at("threads") == "1");
  CHECK(items[0].at("status") == "measured");
  CHECK(items[0].at("reason").is_null());
  CHECK(items[0].at("build").at("version") == "2.15.0");
  CHECK(items[0].at("build").at("commit") == "abc");
  CHECK(items[0].at("metrics").at("latency").at("location").get<double>() == Approx(0.2));
  CHECK(items[0].at("metrics").at("latency").at("unit") == "s");
  CHECK(items[0].at("metrics").at("latency").at("runs")[0].size() == 2);
  CHECK(items[0].at("output").at("checksum") == 4.5);
  CHECK(items[0].at("output").at("accuracy").is_null());
  CHECK(items[1].at("status") == "failed");
  CHECK(items[1].at("reason") == "crashed: ended by signal 11");
  CHECK(items[2].at("status") == "unavailable");
  CHECK(items[2].at("metrics").empty());
  CHECK(formatted(suite_result(measurement), "csv").find("\ncpu,m,4,1.000000,200.000000,") !=
        std::string::npos);
  const std::string table = formatted(suite_result(measurement), "table");
  CHECK(table.find("b4 eager") != std::string::npos);
  CHECK(table.find("python/n/eval/cuda/fp32/b4/eager: no CUDA device") != std::string::npos);
}
