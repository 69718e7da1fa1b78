#include "storage/model/source_build.hpp"

#include <catch2/catch.hpp>

#include "storage/model/job.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

using namespace nightjar;
using nlohmann::json;

namespace {

json built() {
  return {{"outcome", "built"},
          {"reason", ""},
          {"wheel_file", "a-1-py3-none-any.whl"},
          {"sha256", std::string(64, 'a')},
          {"seconds", 12.5},
          {"compile_seconds", 10},
          {"attempts", 1},
          {"warm", true},
          {"cache",
           {{"program", "ccache"},
            {"cxx", {{"hits", 3}, {"misses", 1}}},
            {"cuda", {{"hits", 0}, {"misses", 2}}}}}};
}

}  // namespace

TEST_CASE("What came of a build is the same after it was written and read") {
  CHECK(json(built().get<SourceResult>()) == built());
}

TEST_CASE("A result that contradicts itself is refused") {
  json without = built(), reasoned = built(), foreign = built(), failed = built();
  without["sha256"] = nullptr;
  reasoned["reason"] = "no";
  foreign["wheel_file"] = "../a.whl";
  failed["outcome"] = "does_not_compile";
  for (const json& one : {without, reasoned, foreign, failed})
    CHECK_THROWS_AS(one.get<SourceResult>(), json::exception);
}

TEST_CASE("A build job has a source, and no other job has") {
  JobSpec spec;
  spec.kind = JobKind::build;
  spec.source = SourceSpec{"https://example.org/x", *CommitSha::parse(std::string(40, 'a')),
                           "name = 'x'", *Sha256::parse(std::string(64, 'b'))};
  const json written = spec;
  CHECK(written.at("source").at("recipe") == "name = 'x'");
  CHECK(json(written.get<JobSpec>()) == written);
  json without = written, screen = written;
  without.erase("source");
  screen["kind"] = "screen";
  CHECK_THROWS_AS(without.get<JobSpec>(), json::exception);
  CHECK_THROWS_AS(screen.get<JobSpec>(), json::exception);
  CHECK_FALSE(json(JobSpec{}).contains("source"));
}
