#include "storage/model/json_io.hpp"

#include <catch2/catch.hpp>

#include "storage/model/build.hpp"

using namespace nightjar;
using nlohmann::json;

TEST_CASE("the model's words go into JSON and come back") {
  const auto commit = *CommitSha::parse(std::string(40, 'd'));
  const auto name = *WorkloadName::parse("native/dlrm/eval/cpu/fp32/b4/eager");
  const json out{{"id", BuildId{7}},
                 {"kind", BuildKind::overlay},
                 {"commit", std::optional(commit)},
                 {"base", std::optional<BuildId>()},
                 {"found_at", Time{}},
                 {"workload", name}};
  CHECK(out.dump() == R"({"base":null,"commit":")" + commit.str() +
                          R"(","found_at":"1970-01-01T00:00:00Z","id":7,"kind":"overlay",)"
                          R"("workload":"native/dlrm/eval/cpu/fp32/b4/eager"})");
  CHECK(field<BuildId>(out, "id") == BuildId{7});
  CHECK(out["kind"].get<BuildKind>() == BuildKind::overlay);
  CHECK(out["commit"].get<CommitSha>() == commit);
  CHECK(field<std::optional<CommitSha>>(out, "commit") == commit);
  CHECK_FALSE(out["base"].get<std::optional<BuildId>>());
  CHECK(out["found_at"].get<Time>() == Time{});
  CHECK(out["workload"].get<WorkloadName>() == name);
}

TEST_CASE("a field of something that is no object is refused") {
  CHECK_THROWS_WITH(field<int>(json::array(), "id"), Catch::Contains("an object is wanted"));
  CHECK_THROWS_WITH(field<BuildKind>({{"kind", "weird"}}, "kind"),
                    Catch::Contains("in 'kind': no BuildKind is called 'weird'"));
  CHECK_THROWS_WITH(field<bool>({{"open", 1}}, "open"), Catch::Contains("a boolean is wanted"));
}

TEST_CASE("What was wrong is shown by its begin, whatever it is") {
  const auto refusal = [](const nlohmann::json& value, auto wanted) -> std::string {
    try {
      parse_json(value, wanted);
    } catch (const nlohmann::json::exception& error) {
      return error.what();
    }
    return "accepted";
  };
  const nlohmann::json many(100'000, 7), text(std::string(100'000, '\xe9'));
  CHECK_THAT(refusal(many, Parsed<int>{}), Catch::EndsWith("wanted, not a list"));
  CHECK_THAT(refusal({{"a", many}}, Parsed<double>{}), Catch::EndsWith("wanted, not an object"));
  CHECK_THAT(refusal("2026", Parsed<Time>{}), Catch::EndsWith("wanted, not '2026'"));
  CHECK(refusal(text, Parsed<WorkloadName>{}).size() < 200);
  CHECK(refusal(1e10, Parsed<int>{}) != "accepted");
  CHECK(refusal(3.5, Parsed<std::int64_t>{}) != "accepted");
}
