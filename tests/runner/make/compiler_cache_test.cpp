#include "runner/make/compiler_cache.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>

#include "runner/process/failure.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using Catch::Matchers::Contains;

TEST_CASE("ccache's log counts C++ and CUDA apart, once a unit") {
  const auto counted = parse_ccache_log(
      "# a.cpp\ncache_miss\ndirect_cache_miss\nlocal_storage_miss\npreprocessed_cache_miss\n"
      "# b.cpp\ndirect_cache_hit\nlocal_storage_hit\n# /x/c.cc\npreprocessed_cache_hit\n"
      "# k.cu\ncache_miss\n# -\ncalled_for_link\n");
  CHECK(counted == CacheStatistics{"ccache", {2, 1}, {0, 1}});
  CHECK(parse_ccache_log("") == CacheStatistics{"ccache", {}, {}});
}

TEST_CASE("sccache's statistics count C++ and CUDA apart") {
  const auto counted = parse_sccache_statistics(
      R"text({"stats": {"compile_requests": 9,
                        "cache_hits": {"counts": {"C/C++": 5, "CUDA": 1, "CUDA (Device code)": 1}},
                        "cache_misses": {"counts": {"C/C++": 2}, "adv_counts": {}}}})text");
  CHECK(counted == CacheStatistics{"sccache", {5, 2}, {2, 0}});
  CHECK(parse_sccache_statistics("no server") == CacheStatistics{"sccache", {}, {}});
}

TEST_CASE("A cache that the recipe insists on and the machine lacks is the machine's fault") {
  CHECK(find_compiler_cache("none", false).program.empty());
  CHECK(find_compiler_cache("auto", true).program.empty());
  CHECK(find_compiler_cache("sccache", true).path == "sccache");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  CHECK_THROWS_AS(find_compiler_cache("ccache", false), TransientFailure);
  CHECK(find_compiler_cache("auto", false).program.empty());
  ::setenv("PATH", path.c_str(), 1);
}

TEST_CASE("Wrappers stand before the compilers on PATH, and hand on to the real ones") {
  const Scratch scratch;
  const CompilerCache cache{"ccache", "/opt/ccache"};
  const auto variables = use_cache(
      cache, {scratch / "cache", scratch / "wrappers", scratch / "log", "/tree", 1000}, "/usr/bin");
  CHECK(variables.at("PATH") == (scratch / "wrappers").string() + ":/usr/bin");
  CHECK(variables.at("CCACHE_MAXSIZE") == "1000");
  CHECK_THAT(slurp(scratch / "wrappers/c++"), Contains("exec '/opt/ccache' '/"));
  CHECK(use_cache({}, {}, "/usr/bin").empty());
  // A wrapper that is right keeps its time: to ccache a new one would be another compiler.
  const auto written = std::filesystem::last_write_time(scratch / "wrappers/c++");
  use_cache(cache, {scratch / "cache", scratch / "wrappers", scratch / "log", "/tree", 1000}, "/");
  CHECK(std::filesystem::last_write_time(scratch / "wrappers/c++") == written);
}
