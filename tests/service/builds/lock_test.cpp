#include "service/builds/lock.hpp"

#include <catch2/catch.hpp>

#include "storage/base/digest.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;

namespace {

// As uv writes it.
const std::string kText =
    "--index-url https://index.example/simple\n"
    "\n"
    "numpy==2.1.0 \\\n"
    "    --hash=sha256:01 \\\n"
    "    --hash=sha256:02\n"
    "sympy==1.13.3 ; python_version >= '3.9' \\\n"
    "    --hash=sha256:03\n";
const std::string kLater =
    "--index-url https://index.example/simple\n"
    "mpmath==1.3.0 \\\n"
    "    --hash=sha256:04\n"
    "sympy==1.14.0 \\\n"
    "    --hash=sha256:05\n";

}  // namespace

TEST_CASE("a lock has each package with its version, and is named by its text") {
  const Lock lock = lock_of(kText);
  CHECK(lock.packages == std::vector<LockedPackage>{{"numpy", "2.1.0"}, {"sympy", "1.13.3"}});
  CHECK(lock.sha256 == digest_of(kText));
}

TEST_CASE("what differs between two locks is said by package") {
  const auto changes = changes_between(lock_of(kText), lock_of(kLater));
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].name == "mpmath");
  CHECK(changes[0].before.empty());
  CHECK(changes[1].after.empty());
  CHECK(changes[2].before == "1.13.3");
  CHECK(changes[2].after == "1.14.0");
}

TEST_CASE("without uv it is said what to install") {
  Config::Environment config;
  config.indexes = {"http://127.0.0.1:9/simple"};
  config.uv = "no-such-uv";
  CHECK_THROWS_WITH(resolve({"sympy"}, {}, config),
                    Contains("there is no program 'no-such-uv'; install uv"));
}
