#include "service/cli/series_file.hpp"

#include <fstream>

#include <catch2/catch.hpp>

#include "service/cli/failure.hpp"
#include "service/cli/model_results.hpp"

using namespace nightjar::cli;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

class File {
 public:
  explicit File(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  ~File() { fs::remove(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_ = fs::temp_directory_path() / "nightjar_series_file_test.csv";
};

Series series_of(const std::string& text) {
  const File file(text);
  return parse_series(read_text(file.path()), file.path());
}

}  // namespace

TEST_CASE("positions that are numbers are sorted, and rows of equal ones are runs") {
  const Series series = series_of("position,value\n10,1\n9,2\n10,3\n2.5,4\n");
  CHECK(series.kind == PositionKind::numbers);
  CHECK(series.names == std::vector<std::string>{"2.5", "9", "10"});
  REQUIRE(series.positions.size() == 3);
  CHECK(series.positions[2].runs == std::vector<double>{1, 3});
  CHECK(series.positions[2].position == 2);
}

TEST_CASE("times in nanoseconds keep all their digits") {
  const Series series = series_of("1763920000000000002,1\n1763920000000000001,2\n");
  CHECK(series.names == std::vector<std::string>{"1763920000000000001", "1763920000000000002"});
}

TEST_CASE("the order of time is that of numbers, versions, dates or the file") {
  struct Case {
    const char* what;
    std::vector<std::string> given, sorted;
    PositionKind kind;
  };
  using enum PositionKind;
  const Case cases[] = {
      {"commits", {"c0ffee", "abcdef", "123456"}, {"c0ffee", "abcdef", "123456"}, as_listed},
      {"decimals", {"10", "2.5", "9"}, {"2.5", "9", "10"}, numbers},
      {"versions of two numbers", {"3.9", "3.10", "3.11"}, {"3.9", "3.10", "3.11"}, versions},
      {"decimals that would be versions in another order",
       {"3.10", "3.9"},
       {"3.10", "3.9"},
       numbers},
      {"versions", {"1.10.0", "1.9.0", "v1.9.1"}, {"1.9.0", "v1.9.1", "1.10.0"}, versions},
      {"pre-releases",
       {"2.0.0", "2.0.0rc1", "2.0.0.dev20260820+cpu", "2.0.0-beta.2", "2.0.0.post1"},
       {"2.0.0.dev20260820+cpu", "2.0.0-beta.2", "2.0.0rc1", "2.0.0", "2.0.0.post1"},
       versions},
      {"dates", {"2026-11-23", "2026-11-22"}, {"2026-11-22", "2026-11-23"}, dates},
      {"times of several zones",
       {"2026-11-23T01:00:00+02:00", "2026-11-22 22:30", "2026-11-22"},
       {"2026-11-22", "2026-11-22 22:30", "2026-11-23T01:00:00+02:00"},
       dates},
      {"tags", {"r-10", "r-9"}, {"r-10", "r-9"}, as_listed},
  };
  for (const Case& one : cases) {
    INFO(one.what);
    std::string text = "position,value\n";
    for (const std::string& position : one.given) text += position + ",1\n";
    const Series series = series_of(text);
    CHECK(series.names == one.sorted);
    CHECK(series.kind == one.kind);
  }
}

TEST_CASE("separators, decimal signs, units and further columns are read as people write them") {
  struct Case {
    const char* what;
    std::string text;
    std::vector<double> values;
  };
  const Case cases[] = {
      {"semicolons, decimal commas", "position;value\n0;10,061\n1;10,1\n", {10.061, 10.1}},
      {"all with three decimals", "0;10,061\n1;10,145\n", {10.061, 10.145}},
      {"tabs", "0\t10,06\n1\t9,5\n", {10.06, 9.5}},
      {"quoted decimal commas", "0,\"10,06\"\n1,\"0,500\"\n", {10.06, .5}},
      {"thousands", "0,\"1,000,000\"\n1,\"1,234.5\"\n2,\"2,345\"\n", {1e6, 1234.5, 2345}},
      {"thousands with points", "0;1.234,5\n1;2.345,25\n", {1234.5, 2345.25}},
      {"units", "0,10 ms\n1,0.012 s\n2,9000us\n", {10, 12, 9}},
      {"memory", "0,1 MiB\n1,512 KiB\n", {1, .5}},
      {"a unit in the header", "commit,value (ms)\na,10\nb,1e1\n", {10, 10}},
      {"further columns", "host,date,value\nx,2026-01-02,2\nx,2026-01-01,1\n", {1, 2}},
      {"rows without a value", "0,1\n1,\n2,nan\n3,NA\n4,2\n", {1, 2}},
  };
  for (const Case& one : cases) {
    INFO(one.what);
    std::vector<double> values;
    for (const auto& position : series_of(one.text).positions)
      for (const double value : position.runs) values.push_back(value);
    REQUIRE(values.size() == one.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(one.values[i]));
  }
  CHECK(series_of("0,1\n1,\n2,nan\n3,2\n").unmeasured == std::vector<int>{2, 3});
}

TEST_CASE("what can be read in two ways is refused with its line") {
  const auto refuses = [](const std::string& text, const std::string& words) {
    INFO(text);
    CHECK_THROWS_WITH(series_of(text), Contains(words));
  };
  refuses("position,value\n0;10,061\n", "line 2: a semicolon stands where");
  refuses("0,1\n1;10,061\n", "line 2: a semicolon stands where");
  refuses("0;999\n1;1,001\n", "line 2: the comma of '1,001'");
  refuses("0\t1,001\n1\t1,002\n", "line 1: the comma of '1,001'");
  refuses("0;1,5\n1;2.5\n", "line 1: the comma of '1,5' beside '2.5' in line 2");
  refuses("0;1,5\n1;1,000,000\n", "line 1: the comma of '1,5' beside '1,000,000' in line 2");
  refuses("0,10 ms\n1,10\n", "line 2: '10' has no unit");
  refuses("0,10 ms\n1,10 KiB\n", "line 2: '10KiB' and other values have units");
  refuses("0,10 parsecs\n", "line 1: 'parsecs'");
  refuses("03/04/2026,1\n04/04/2026,2\n", "line 1: the date '03/04/2026'");
  refuses("01.02.2026;1\n", "line 1: the date '01.02.2026'");
  refuses("2026-11-23,1\nlatest,2\n", "line 2: 'latest' is no date");
  refuses("2026-02-30,1\n", "line 1: '2026-02-30' is no date");
  refuses("3.10,1\n3.9,2\n3.8,3\n3.11,3\n", "line 1: '3.10' may be a decimal number or a version");
  refuses("3e5,1\n2e5,2\n", "line 1: '3e5' may be a number or a commit");
}

TEST_CASE(
    "a byte order mark, Windows line ends, quotation marks and a missing header change nothing") {
  for (const std::string header : {"", "position,value\r\n", "\"position\", \"value\"\r\n"}) {
    const Series series = series_of("\xEF\xBB\xBF" + header + "1,5\r\n\r\n2,6\r\n");
    CHECK(series.names == std::vector<std::string>{"1", "2"});
    CHECK(series.positions[1].runs == std::vector<double>{6});
  }
  CHECK(series_of("\"Nov 23, 2026\",5\n").names == std::vector<std::string>{"Nov 23, 2026"});
}

TEST_CASE("a row that is none is named with its line") {
  const auto refuses = [](const std::string& text, const std::string& words) {
    INFO(text);
    CHECK_THROWS_WITH(series_of(text),
                      Contains("nightjar_series_file_test.csv, line ") && Contains(words));
  };
  for (const char* value : {"0", "-1", "1e400", "1e-400"})
    refuses("1,2\n2," + std::string(value) + "\n", "line 2: the value must be positive and finite");
  refuses("commit,seconds\n1,2\n",
          "line 1: the value 'seconds' is no number; a header must name 'value'");
  refuses("1,2\n3,x\n", "line 2: the value 'x' is no number");
  refuses("1,2\nposition,value\n", "line 2: ");
  refuses("1,2\n\n3\n", "line 3: a position, a comma and a value are wanted");
  refuses("1,2,3\n", "more than two cells");
  refuses(",3\n", "the position is empty");
  refuses("1,0\n", "positive");
  refuses("1,inf\n", "no number");
  CHECK_THROWS_AS(series_of("position,value\n"), BadInput);
}
