#include "runner/machine/partition.hpp"

#include <numeric>

#include <catch2/catch.hpp>

#include "tests/support/scratch.hpp"

using namespace nightjar::runner;
using Cpus = std::vector<int>;

namespace {

Cpus from_to(int first, int last) {
  Cpus cpus(static_cast<std::size_t>(last - first + 1));
  std::iota(cpus.begin(), cpus.end(), first);
  return cpus;
}

}  // namespace

TEST_CASE("Each device gets as many CPUs, next to it where that is known") {
  const Cpus left = from_to(0, 31), right = from_to(32, 63);
  std::vector<Cpus> local(4, left);
  local.resize(8, right);
  const auto shares = divide_cpus(from_to(0, 63), local);
  REQUIRE(shares.size() == 8);
  CHECK(shares[0] == from_to(0, 7));
  CHECK(shares[3] == from_to(24, 31));
  CHECK(shares[4] == from_to(32, 39));
  CHECK(shares[7] == from_to(56, 63));

  CHECK(divide_cpus(from_to(0, 8), {{}, {}}) == std::vector<Cpus>{from_to(0, 3), from_to(4, 7)});
  // Six devices on the left: the two on the right get no more than those.
  local.assign(6, left);
  local.resize(8, right);
  for (const Cpus& share : divide_cpus(from_to(0, 63), local)) CHECK(share.size() == 4);
  CHECK(divide_cpus(from_to(0, 3), {}).empty());
  CHECK_THROWS_WITH(divide_cpus(from_to(0, 2), {{}, {}, {}, {}}),
                    "4 devices need as many CPUs, and 3 may be used here");
}

TEST_CASE("Threads of one core go to one device") {
  // Cores 0 to 3 with threads 0 and 4, 1 and 5, ... side by side, as by_core gives them.
  const Cpus by_core = {0, 4, 1, 5, 2, 6, 3, 7};
  CHECK(divide_cpus(by_core, {{}, {}}) == std::vector<Cpus>{{0, 1, 4, 5}, {2, 3, 6, 7}});
  CHECK(divide_cpus(by_core, {{}, {}, {}}) == std::vector<Cpus>{{0, 4}, {1, 5}, {2, 6}});
}

TEST_CASE("The devices of one kind are found among all of the node, in the order of their buses") {
  const Scratch scratch;
  const auto device = [&](const char* bus, const char* vendor, const char* kind) {
    spit(scratch / bus / "vendor", vendor);
    spit(scratch / bus / "class", kind);
  };
  device("0000:9a:00.0", "0x10de\n", "0x030200\n");
  device("0000:3b:00.0", "0x10de\n", "0x030200\n");
  device("0000:02:00.0", "0x10de\n", "0x068000\n");  // a switch between them
  device("0000:01:00.0", "0x1a03\n", "0x030200\n");
  CHECK(devices_like("00000000:9A:00.0", scratch.path()) ==
        std::vector<std::string>{"0000:3b:00.0", "0000:9a:00.0"});
  CHECK(devices_like("00000000:77:00.0", scratch.path()).empty());
  CHECK(devices_like("00000000:9A:00.0", scratch / "none").empty());
}

TEST_CASE("A list of CPUs is read as /sys writes it") {
  CHECK(parse_cpu_list("0-2,8") == Cpus{0, 1, 2, 8});
  CHECK(parse_cpu_list("5") == Cpus{5});
  CHECK(parse_cpu_list("") == Cpus{});
  CHECK(parse_cpu_list("0-x") == Cpus{});
  CHECK(parse_cpu_list("3;4") == Cpus{});
}
