#include "service/cli/search_report.hpp"

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"

using namespace nightjar::cli;
using Catch::Contains;
using nightjar::bisect::SearchOutcome;

namespace {

ReportedStep step(char digit, double ratio, const std::string& subject) {
  return {{3, 3, .995, ratio, ratio - .01, ratio + .01},
          {std::string(40, digit)},
          {{subject, "Ada", "2026-08-20"}},
          LevelEstimate{1, .99, 1.01, 8},
          LevelEstimate{ratio, ratio - .01, ratio + .01, 9}};
}

SearchReport report(SearchOutcome outcome) {
  SearchReport out;
  out.options.repository = "my repository";
  out.outcome = outcome;
  out.rule = "the rule";
  out.ends = Ends{{1, .99, 1.01, 30}, {1.002, .992, 1.012, 31}, {1.002, .998, 1.006}, 1.009};
  out.good = std::string(40, 'a');
  out.bad = std::string(40, 'b');
  out.runs = 61;
  return out;
}

nlohmann::json json_of(const SearchReport& report) {
  return nlohmann::json::parse(report_json(report));
}

}  // namespace

TEST_CASE("nobody convinces by both ends and by what would have been seen") {
  CHECK(report_text(report(SearchOutcome::not_reproduced)) ==
        "not reproduced: nobody is blamed\n"
        "  good end aaaaaaaaaaaa: 1.00 (0.990 to 1.01), 30 runs\n"
        "  bad end  bbbbbbbbbbbb: 1.00 (0.992 to 1.01), 31 runs\n"
        "  change: +0.20 % (-0.20 to 0.60 %); a change of +0.90 % would have been seen with "
        "probability .9\n"
        "61 runs: the rule\n");
}

TEST_CASE("where runs do not scatter any change would have been seen") {
  SearchReport steady = report(SearchOutcome::not_reproduced);
  steady.ends->change = {1, 1, 1};
  steady.ends->smallest_seen = 1;
  CHECK_THAT(report_text(steady),
             Contains("  change: none; runs do not scatter, so any change would have been seen\n"));
}

TEST_CASE(
    "a step below the threshold is named with its size and what to type, and nobody is blamed") {
  SearchReport small = report(SearchOutcome::below_threshold);
  small.smaller = {step('1', 1.021, "Small"), step('2', 1.042, "Largest")};
  const std::string text = report_text(small);
  CHECK_THAT(text, Contains("nobody is blamed: the largest step is +4.2 % (3.2 to 5.2 %) at "
                            "222222222222 Largest; below 7 %\n"));
  CHECK_THAT(text, Contains("also, below 7 %: +2.1 % (1.1 to 3.1 %) at 111111111111 Small\n"));
  CHECK_THAT(text, Contains("to have it named: --threshold 4%\n"));
  const auto json = json_of(small);
  CHECK(json["outcome"] == "below_threshold");
  CHECK(json["culprits"].empty());
  CHECK(json["contributors"].empty());
  CHECK(json["smaller_steps"].size() == 2);
  CHECK(json["smaller_steps"][1]["change"]["ratio"] == 1.042);
}

TEST_CASE("contributors are listed, and none of them is called the culprit") {
  SearchReport several = report(SearchOutcome::several_small);
  several.named = {step('1', 1.04, "First"), step('2', 1.04, "Second")};
  CHECK_THAT(report_text(several),
             Contains("no single commit changed it by 7 %, these did together\n"
                      "1111111111111111111111111111111111111111 First\n"));
  const auto json = json_of(several);
  CHECK(json["culprits"].empty());
  REQUIRE(json["contributors"].size() == 2);
  CHECK(json["contributors"][1]["commits"][0] == std::string(40, '2'));
  CHECK(json["smaller_steps"].empty());
}

TEST_CASE("a culprit is shown by a command that a shell takes as it is") {
  SearchReport found = report(SearchOutcome::culprit);
  found.named = {step('1', 1.18, "Slow it down")};
  CHECK_THAT(report_text(found),
             Contains("  change: +18.0 % (17.0 to 19.0 %), real with probability 99.5 %\n"
                      "  to see it: git -C 'my repository' show 111111111111\n"));
  found.named[0].commits.push_back(std::string(40, '2'));
  found.named[0].facts.push_back({"Not UTF-8 \xff", "Ada", "2026-08-21"});
  CHECK_THAT(report_text(found), Contains("log -p 111111111111^..222222222222\n"));
  CHECK(json_of(found)["culprits"][0]["facts"].size() == 2);
}

TEST_CASE("of failures the rates are said, and no ratio") {
  SearchReport found = report(SearchOutcome::culprit);
  found.options.find = "broken";
  found.named = {step('1', 1, "Break it")};
  found.named[0].before = LevelEstimate{0, 0, .061, 59};
  found.named[0].after = LevelEstimate{.25, .13, .43, 32};
  CHECK_THAT(report_text(found), Contains("  before: 0.0 % of 59 runs fail (0.0 to 6.1 %)\n"
                                          "  after:  25.0 % of 32 runs fail (13.0 to 43.0 %)\n"
                                          "  it broke the test with probability 99.5 %\n"));
  const auto json = json_of(found);
  CHECK(json["culprits"][0]["change"]["ratio"].is_null());
  CHECK(json["culprits"][0]["after"]["location"] == .25);
  CHECK(json["ends"]["change"]["ratio"].is_null());
}

TEST_CASE("a search that found the opposite says so, and how to search for it") {
  Ends ends = *report(SearchOutcome::not_reproduced).ends;
  BisectOptions options;
  CHECK(opposite_change(ends, options).empty());
  ends.change = {.89, .87, .91};
  CHECK(opposite_change(ends, options) ==
        "the level fell by 11.0 % (9.0 to 13.0 %): nothing got worse, as lower is better. To find "
        "what improved it: "
        "--find better. For a throughput: --direction higher");
  ends.change = {.95, .945, .955};  // certain, but too small to be named by that threshold
  CHECK(opposite_change(ends, options) ==
        "the level fell by 5.0 % (4.5 to 5.5 %): nothing got worse, as lower is better");
  ends.change = {.98, .975, .985};
  CHECK(opposite_change(ends, options).empty());
  options.direction = "higher";
  ends.change = {1.12, 1.1, 1.14};
  CHECK(opposite_change(ends, options) ==
        "the level rose by 12.0 % (10.0 to 14.0 %): nothing got worse. To find what improved it: "
        "--find better");
  options.find = "better";
  ends.change = {.89, .87, .91};
  CHECK(opposite_change(ends, options) ==
        "the level fell by 11.0 % (9.0 to 13.0 %): nothing got better. To find what made it worse: "
        "--find worse");
}
