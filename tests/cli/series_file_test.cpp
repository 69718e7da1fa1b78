#include "service/cli/series_file.hpp"

#include <fstream>

#include <catch2/catch.hpp>

#include "service/cli/failure.hpp"

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
  return read_series(File(text).path());
}

}  // namespace

TEST_CASE("positions that are numbers are sorted, and rows of equal ones are runs") {
  const Series series = series_of("position,value\n10,1\n9,2\n10,3\n2.5,4\n");
  CHECK(series.numbers);
  CHECK(series.names == std::vector<std::string>{"2.5", "9", "10"});
  REQUIRE(series.positions.size() == 3);
  CHECK(series.positions[2].runs == std::vector<double>{1, 3});
  CHECK(series.positions[2].position == 2);
}

TEST_CASE("times in nanoseconds keep all their digits") {
  const Series series = series_of("1763920000000000002,1\n1763920000000000001,2\n");
  CHECK(series.names == std::vector<std::string>{"1763920000000000001", "1763920000000000002"});
}

TEST_CASE("commits and dates stay in the order of the file") {
  const Series series =
      series_of("position,value\n2026-11-23,1\n2026-11-22,2\n1e3,3\n1000,4\n2026-11-23,5\n");
  CHECK_FALSE(series.numbers);
  CHECK(series.names == std::vector<std::string>{"2026-11-23", "2026-11-22", "1e3", "1000"});
  CHECK(series.positions[0].runs == std::vector<double>{1, 5});
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
          "line 1: the value 'seconds' is no number; a header must be 'position,value'");
  refuses("1,2\n3,x\n", "line 2: the value 'x' is no number");
  refuses("1,2\nposition,value\n", "line 2: ");
  refuses("1,2\n\n3\n", "line 3: a position, a comma and a value are wanted");
  refuses("1,2,3\n", "more than two cells");
  refuses(",3\n", "the position is empty");
  refuses("1,0\n", "positive");
  refuses("1,inf\n", "no number");
  CHECK_THROWS_AS(series_of("position,value\n"), BadInput);
}
