#include "runner/machine/own_cpus.hpp"

#include <catch2/catch.hpp>

#include "runner/process/failure.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using Catch::Contains;
using Few = std::vector<int>;

TEST_CASE("Runners that share a folder of locks have no CPU in common, until one of them ends") {
  const Scratch scratch;
  const Few node{0, 1, 2, 3, 4, 5, 6, 7};
  auto first = std::make_unique<OwnCpus>(lock_cpus(scratch / "locks", node, 3));
  const OwnCpus second = lock_cpus(scratch / "locks", node, 3);
  CHECK(first->cpus == Few{5, 6, 7});
  CHECK(second.cpus == Few{2, 3, 4});
  CHECK_THROWS_WITH(lock_cpus(scratch / "locks", node, 3),
                    Contains("cannot take 3 CPUs") && Contains("left 2 of 8 free") &&
                        Contains((scratch / "locks").string()));
  CHECK(lock_cpus(scratch / "locks", node, 2).cpus == Few{0, 1});  // the failure held none
  first.reset();
  CHECK(lock_cpus(scratch / "locks", node, 3).cpus == Few{5, 6, 7});
}

TEST_CASE("Each device of a node has CPUs of its own, with no word between their runners") {
  const Few node{0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<Few> local{{4, 5, 6, 7}, {0, 1, 2, 3}};
  CHECK(share_of_device(node, local, 0, 2) == Few{6, 7});
  CHECK(share_of_device(node, local, 1, 2) == Few{2, 3});
  CHECK(share_of_device(node, local, 1, 5).empty());
  CHECK(share_of_device({0}, local, 1, 1).empty());
}

TEST_CASE("Locks of CPUs need to know how many, and no more than there are") {
  const Scratch scratch;
  CHECK_THROWS_AS(keep_to_own_cpus({100'000, scratch.path(), ""}), WrongUse);
}
