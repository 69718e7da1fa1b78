#include "service/cli/bench_files.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::cli;

TEST_CASE("result files of benchmark programs are read with their samples, units and directions") {
  struct Case {
    std::string program, path, text, name, unit;
    std::vector<double> samples;
    bool of_one_process = false;
    Direction direction = Direction::lower_is_better;
  };
  const Case cases[] = {
      {"hyperfine",
       "h.json",
       R"({"results":[{"command":"sleep 1","mean":1.5,"median":1.4,"times":[1.25,1.5]}]})",
       "sleep 1",
       "s",
       {1.25, 1.5}},
      {"hyperfine",
       "h.json",
       R"({"results":[{"command":"ls","mean":1.5,"median":1.4}]})",
       "ls",
       "s",
       {1.4}},
      {"pytest-benchmark",
       "p.json",
       R"({"machine_info":{},"benchmarks":[{"name":"test_a","fullname":"t.py::test_a",
           "stats":{"min":1,"median":2,"data":[3,1,2]}}]})",
       "t.py::test_a",
       "s",
       {3, 1, 2},
       true},
      {"Google Benchmark",
       "g.json",
       R"({"context":{},"benchmarks":[
           {"name":"BM_a/8","run_name":"BM_a/8","run_type":"iteration","real_time":5,"time_unit":"us"},
           {"name":"BM_a/8","run_name":"BM_a/8","run_type":"iteration","real_time":7,"time_unit":"us"},
           {"name":"BM_a/8_mean","run_name":"BM_a/8","run_type":"aggregate","aggregate_name":"mean",
            "real_time":6,"time_unit":"us"}]})",
       "BM_a/8",
       "us",
       {5, 7},
       true},
      {"Google Benchmark",
       "g.json",
       R"({"context":{},"benchmarks":[{"name":"BM_a_median","run_name":"BM_a","run_type":"aggregate",
           "aggregate_name":"median","real_time":6,"time_unit":"ns"}]})",
       "BM_a",
       "ns",
       {6},
       true},
      {"JMH",
       "j.json",
       R"([{"benchmark":"a.B.c","mode":"thrpt","params":{"n":"8"},"primaryMetric":{"score":2.5,
           "scoreUnit":"ops/s","rawData":[[1,2,9],[3,4,5]]}}])",
       "a.B.c n=8",
       "ops/s",
       {2, 4},
       false,
       Direction::higher_is_better},
      {"JMH",
       "j.json",
       R"([{"benchmark":"a.B.c","mode":"avgt","primaryMetric":{"score":2.5,"scoreUnit":"ns/op",
           "rawData":[[1,2,9]]}}])",
       "a.B.c",
       "ns/op",
       {1, 2, 9},
       true},
      {"Criterion",
       "target/criterion/parse/long/new/sample.json",
       R"({"sampling_mode":"Linear","iters":[1,2],"times":[10,24]})",
       "parse/long",
       "ns",
       {10, 12},
       true},
      {"Criterion",
       "target/criterion/parse/new/estimates.json",
       R"({"mean":{"point_estimate":3},"median":{"point_estimate":2},"slope":null})",
       "parse",
       "ns",
       {2},
       true},
      {"cargo-criterion",
       "c.json",
       "{\"reason\":\"group-complete\"}\n{\"reason\":\"benchmark-complete\",\"id\":\"parse\","
       "\"unit\":\"ns\",\"iteration_count\":[2,4],\"measured_values\":[10,24]}\n",
       "parse",
       "ns",
       {5, 6},
       true},
      {"perf stat",
       "perf.json",
       "{\"counter-value\" : \"1234.50\", \"unit\" : \"msec\", \"event\" : \"task-clock\"}\n",
       "task-clock",
       "msec",
       {1234.5}},
      {"asv",
       "a.json",
       R"({"commit_hash":"c","result_columns":["result","params","version","samples"],
           "results":{"b.time_x":[[0.5],[["8"]],"v1",[[0.25,0.5,2]]]}})",
       "b.time_x-8",
       "s",
       {.25, .5, 2},
       true},
      {"Catch2",
       "c.xml",
       "<?xml version=\"1.0\"?>\n<Catch2TestRun><TestCase name=\"sort\"><BenchmarkResults "
       "name=\"a &lt; b\" samples=\"100\"><mean value=\"12.5\" lowerBound=\"12\"/>"
       "</BenchmarkResults></TestCase></Catch2TestRun>",
       "sort/a < b",
       "ns",
       {12.5},
       true},
  };
  for (const Case& one : cases) {
    INFO(one.program << ": " << one.text);
    const auto file = read_bench_file(one.path, one.text);
    REQUIRE(file);
    CHECK(file->program == one.program);
    REQUIRE(file->values.size() == 1);
    const BenchValue& value = file->values.front();
    CHECK(value.name == one.name);
    CHECK(value.unit == one.unit);
    CHECK(value.samples == one.samples);
    CHECK(value.of_one_process == one.of_one_process);
    CHECK(value.direction == one.direction);
  }
}

TEST_CASE("a name that a tag of Catch2's lacks is not taken from the next tag") {
  const auto file =
      read_bench_file("c.xml", R"(<Catch2TestRun><TestCase tags="[x]"><BenchmarkResults name="a">
                  <mean value="1"/></BenchmarkResults></TestCase></Catch2TestRun>)");
  REQUIRE(file);
  CHECK(file->values.at(0).name == "/a");
}

TEST_CASE("a benchmark without a number says what its program said, and other files are none") {
  const auto failed =
      read_bench_file("g.json", R"({"context":{},"benchmarks":[{"name":"BM_a","error_occurred":true,
                    "error_message":"no file"}]})");
  REQUIRE(failed);
  CHECK(failed->values.at(0).failure == "no file");
  const auto counted = read_bench_file(
      "p", "{\"counter-value\" : \"<not supported>\", \"unit\" : \"\", \"event\" : \"cycles\"}\n");
  REQUIRE(counted);
  CHECK(counted->values.at(0).samples.empty());
  CHECK(counted->values.at(0).failure == "<not supported>");
  for (const char* text : {"", "{", "[]", "{}", "[1]", "<html/>", R"({"metrics":{"a":1}})",
                           R"({"items":[]})", R"({"results":[]})", R"({"benchmarks":[{}]})"})
    CHECK_FALSE(read_bench_file("x.json", text));
}

TEST_CASE("a result file says which commit it measured, or when, as far as it knows") {
  struct Case {
    const char *text, *commit, *date;
  };
  const Case cases[] = {
      {R"({"benchmarks":[{"stats":{}}],"datetime":"2026-11-29T14:15:00.250000+00:00",
           "commit_info":{"id":"c0ffee","time":"2026-11-01T12:00:00+02:00","dirty":false}})",
       "c0ffee", "2026-11-01T10:00:00Z"},
      {R"({"benchmarks":[{"stats":{}}],"datetime":"2026-11-29T14:15:00",
           "commit_info":{"id":"c0ffee","time":"2026-11-01T12:00:00+02:00","dirty":true}})",
       "", "2026-11-29T14:15:00Z"},
      {R"({"context":{"date":"2026-11-29T14:15:00-05:00"},"benchmarks":[{"name":"b"}]})", "",
       "2026-11-29T19:15:00Z"},
      {R"({"commit_hash":"c0ffee","date":1793534400000,"results":{"t.time_a":1}})", "c0ffee",
       "2026-11-01T12:00:00Z"},
      {R"({"commit_hash":"c0ffee","date":1e300,"results":{"t.time_a":1}})", "c0ffee",
       "9999-12-31T23:59:59.999000Z"},
      {R"({"results":[{"command":"ls","times":[1]}]})", "", ""}};
  for (const Case& one : cases) {
    INFO(one.text);
    const auto file = read_bench_file("x.json", one.text);
    REQUIRE(file);
    CHECK(file->commit == one.commit);
    CHECK((file->date ? to_rfc3339(*file->date) : "") == one.date);
  }
}
