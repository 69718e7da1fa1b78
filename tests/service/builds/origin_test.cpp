#include "service/builds/origin.hpp"

#include <catch2/catch.hpp>

#include "storage/builds.hpp"
#include "storage/provenance.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;

namespace {

using Lines = std::vector<std::string>;

// Nightlies of two days differ in commit, date and the content of their own library.
KnownWheel nightly(int day) {
  KnownWheel wheel;
  wheel.build.variant = "cpu";
  wheel.build.date = "2026-08-" + std::to_string(day);
  wheel.build.version = "2.15.0.dev202608" + std::to_string(day) + "+cpu";
  wheel.build.sha256 = Sha256::parse(std::string(62, 'a') + std::to_string(day));
  Provenance& made = wheel.provenance.emplace(Provenance{*wheel.build.sha256});
  made.generator = "setuptools (81.0.0)";
  made.tags = {"cp311-cp311-manylinux_2_28_x86_64"};
  made.compilers = {"GCC: (GNU) 13.3.1"};
  made.flags = " -fvisibility-inlines-hidden -DUSE_KINETO -O2 -Wall";
  made.files = {
      {"torch/lib/libgomp.so.1", 253'289, "gomp", WheelFileKind::bundled},
      {"torch/lib/libtorch_cpu.so", 434'184'800 + day, std::to_string(day), WheelFileKind::own}};
  return wheel;
}

WheelFile& library_of(KnownWheel& wheel) {
  return wheel.provenance->files[1];
}

}  // namespace

TEST_CASE("wheels of two days that were compiled alike have one origin") {
  CHECK(are_alike(nightly(19), nightly(20)));
  KnownWheel other = nightly(20);
  other.provenance->flags = " -fvisibility-inlines-hidden -DUSE_NEW -O2 -Wextra";
  library_of(other).size_bytes = 500'000'000;
  CHECK(are_alike(nightly(19), other));  // a native commit does that
}

TEST_CASE("whatever compiles or is packed in another way makes another origin") {
  const auto changed = [](auto change) {
    KnownWheel wheel = nightly(20);
    change(wheel);
    return are_alike(nightly(19), wheel);
  };
  CHECK(changed([](KnownWheel&) {}));
  CHECK_FALSE(changed([](KnownWheel& w) { w.provenance->compilers = {"GCC: (GNU) 14.2.0"}; }));
  CHECK_FALSE(changed([](KnownWheel& w) {
    w.provenance->flags = " -fvisibility-inlines-hidden -DUSE_KINETO -O3 -Wall";
  }));
  CHECK_FALSE(changed([](KnownWheel& w) { w.provenance->generator = "setuptools (80.0.0)"; }));
  CHECK_FALSE(changed([](KnownWheel& w) { w.provenance->tags = {"cp311-cp311-linux_x86_64"}; }));
  CHECK_FALSE(changed([](KnownWheel& w) { w.provenance->files[0].digest = "another gomp"; }));
  CHECK_FALSE(
      changed([](KnownWheel& w) { w.provenance->files.erase(w.provenance->files.begin()); }));
  CHECK_FALSE(changed([](KnownWheel& w) {
    w.provenance->files.push_back({"torch/lib/toolchain.txt", 7, "t", WheelFileKind::foreign});
  }));
  CHECK_FALSE(changed([](KnownWheel& w) { w.build.variant = "cu130"; }));
}

TEST_CASE("the kind of a wheel, CI's environment and the recipe belong to the origin") {
  const auto ci = [](const std::string& environment) {
    KnownWheel wheel = nightly(20);
    wheel.build.kind = BuildKind::ci;
    wheel.build.url = "https://bucket/pytorch/pytorch/17/" + environment + "/artifacts.zip#w.whl";
    return wheel;
  };
  const auto made = [](char recipe) {
    KnownWheel wheel = nightly(20);
    wheel.build.kind = BuildKind::source;
    wheel.recipe = Sha256::parse(std::string(64, recipe));
    return wheel;
  };
  CHECK_FALSE(are_alike(nightly(20), ci("linux-jammy-py3.11-gcc11")));
  CHECK(are_alike(ci("linux-jammy-py3.11-gcc11"), ci("linux-jammy-py3.11-gcc11")));
  CHECK_FALSE(are_alike(ci("linux-jammy-py3.11-gcc11"), ci("linux-jammy-py3.11-clang15")));
  CHECK(are_alike(made('1'), made('1')));
  CHECK_FALSE(are_alike(made('1'), made('2')));
  CHECK_FALSE(are_alike(made('1'), nightly(20)));
}

TEST_CASE("a wheel of which nothing is known is alike to itself only") {
  KnownWheel unknown = nightly(19), unreadable = nightly(20);
  unknown.provenance.reset();
  unreadable.provenance->trouble = "no whole zip";
  CHECK(are_alike(unknown, unknown));
  CHECK_FALSE(are_alike(unknown, nightly(19)));
  CHECK_FALSE(are_alike(unknown, unreadable));
}

TEST_CASE("what differs between two wheels is said, the most telling first") {
  CHECK(wheel_differences(nightly(20), nightly(20)).empty());
  CHECK(wheel_differences(nightly(19), nightly(20)) ==
        Lines{"1 other file has another content, and nearly the same size"});
  KnownWheel other = nightly(20);
  other.provenance->compilers = {"GCC: (GNU) 14.2.0"};
  other.provenance->flags = " -fvisibility-inlines-hidden -DUSE_KINETO -O3 -Wall";
  other.provenance->generator = "setuptools (80.0.0)";
  other.provenance->files[0].digest = "another gomp";
  library_of(other).size_bytes = 500'000'000;
  other.provenance->files.push_back({"torch/lib/toolchain.txt", 7, "t", WheelFileKind::foreign});
  CHECK(wheel_differences(nightly(19), other) ==
        Lines{"compilers of the wheel before only: GCC: (GNU) 13.3.1",
              "compilers of the new wheel only: GCC: (GNU) 14.2.0",
              "compiler flags of the wheel before only: -O2",
              "compiler flags of the new wheel only: -O3",
              "it was packed by setuptools (80.0.0), before by setuptools (81.0.0)",
              "torch/lib/toolchain.txt (7 bytes) is in the new wheel only",
              "the bundled library torch/lib/libgomp.so.1 has another content",
              "torch/lib/libtorch_cpu.so has 500.0 MB, before 434.2 MB (+15.2 %)"});
}

TEST_CASE("what is not known of a wheel is said, and what would be too long is counted") {
  KnownWheel unknown = nightly(19), many = nightly(20);
  unknown.provenance.reset();
  CHECK(wheel_differences(unknown, nightly(20)) ==
        Lines{"how the wheel before was made is not known"});
  for (int i = 0; i < 30; ++i)
    many.provenance->files.push_back(
        {"torch/lib/more" + std::to_string(i), 7, "t", WheelFileKind::foreign});
  const Lines lines = wheel_differences(nightly(19), many);
  CHECK(lines.size() == 6);
  CHECK(lines[4] == "26 more files are in the new wheel only");
  const Lines fewer = wheel_differences(nightly(19), many, 3);
  CHECK(fewer.size() == 3);
  CHECK(fewer.back() == "and 4 more differences");
}

TEST_CASE("the wheel under an overlay is found with what was read of it") {
  auto db = storage::Database::open_writer(":memory:");
  storage::Autocommit all(db);
  const auto now = Time{} + std::chrono::hours(1);
  KnownWheel wheel = nightly(20);
  wheel.build.state = BuildState::proved;
  wheel.build.found_at = now;
  const Build stored = storage::add_build(all, wheel.build);
  Build overlay = stored;
  overlay.kind = BuildKind::overlay;
  overlay.url = "";
  overlay.version += "+123456789abc";
  overlay.base = stored.id;
  const Build laid = storage::add_build(all, overlay);
  CHECK_FALSE(wheel_under(db, laid)->provenance);
  storage::add_provenance(all, *wheel.provenance);
  const auto found = wheel_under(db, laid);
  REQUIRE(found);
  CHECK(found->build.id == stored.id);
  CHECK(found->provenance == wheel.provenance);
  CHECK(wheel_origin(*found) == wheel_origin(wheel));
}
