// Runs every target over its corpus, as any build can.
#include <chrono>
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/fuzz/targets.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds longest{5};  // of a few kB, under a sanitizer and a busy machine

std::vector<fs::path> corpus_of(std::string_view target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(NIGHTJAR_CORPUS) / target))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("each input of the corpus is dealt with as the targets say") {
  for (const fuzz::Target& target : fuzz::all_targets()) {
    DYNAMIC_SECTION(target.name) {
      const auto files = corpus_of(target.name);
      CHECK(files.size() >= 3);
      for (const fs::path& file : files) {
        CAPTURE(file.filename().string());
        const auto begin = std::chrono::steady_clock::now();
        CHECK_NOTHROW(target.run(runner::slurp(file)));
        CHECK(std::chrono::steady_clock::now() - begin < longest);
      }
    }
  }
}

TEST_CASE("every target takes an empty input, and bytes that mean nothing") {
  for (const fuzz::Target& target : fuzz::all_targets()) {
    CAPTURE(target.name);
    for (const std::string& input : {std::string(), std::string(1, '\0'), std::string(100, '\xff'),
                                     std::string("\n\n\n"), std::string(5000, '[')})
      CHECK_NOTHROW(target.run(input));
  }
}

TEST_CASE("deep nesting ends no process, wherever JSON comes from outside") {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  fuzz::workload_protocol("{\"event\":\"profile\",\"plain_seconds\":" + deep + "}\n");
  fuzz::workload_protocol("{\"event\":\"ready\",\"packages\":" + deep + "}\n");
  fuzz::result_json("{\"attempt\":1,\"result\":" + deep + "}");
  fuzz::webhook_payload("push\n{\"ref\":" + deep + "}");
  fuzz::evidence_bundle("{\"format\":\"nightjar-evidence\",\"regression\":{\"metric\":" + deep +
                        "}}");
}

TEST_CASE("a target tells when something does not hold") {
  CHECK_NOTHROW(fuzz::require(true, "nothing"));
  CHECK_THROWS_AS(fuzz::require(false, "something"), fuzz::Broken);
}
