#include <catch2/catch.hpp>

#include "runner/format/profile_output.hpp"
#include "runner/run/protocol.hpp"
#include "storage/model/json.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using nlohmann::json;

namespace {

const json ready_event = {
    {"event", "ready"},
    {"torch", {{"version", "2.15.0"}, {"git_version", "abc"}, {"path", "/env/torch"}}}};

json row_json(const std::string& name, double seconds, std::int64_t flops, std::int64_t bytes) {
  return {{"name", name},
          {"self_seconds", {seconds, seconds}},
          {"device_seconds", {0, 0}},
          {"calls", 2},
          {"flops", flops},
          {"bytes", bytes},
          {"unknown", 0},
          {"dtype", "fp32"}};
}

json rows_with(const char* name, double seconds) {
  return json::array({row_json(name, seconds, 100, 10)});
}

json profile_event(const json& operators) {
  return {
      {"event", "profile"},
      {"plain_seconds", 0.009},
      {"iteration_seconds", {0.01, 0.01}},
      {"outside_seconds", {0.002, 0.002}},
      {"slowdown", {1, 1}},
      {"operators", operators},
      {"memory", nullptr},
      {"memory_reason", "RuntimeError: no hooks here"},
      {"gpu", json::array()},
      {"hints",
       {{{"operator", "aten::mm"}, {"dtype", "fp16"}, {"dimensions", {7, 8, 8}}, {"multiple", 8}}}},
      {"fastest_probe", 2e-5}};
}

ProcessResult answered(const std::vector<json>& events) {
  ProcessResult process;
  process.exit_code = 0;
  for (const json& event : events) process.protocol += event.dump() + "\n";
  return process;
}

Profile profiled(const std::vector<ProcessResult>& processes) {
  Profile profile;
  profile.workload = "python/x/eval/cpu/fp32/b1/eager";
  for (const auto& process : processes) {
    const RunResult run = parse_profile(process, {"/env", "", ""}).result;
    if (run.profile) append(profile, *run.profile);
    if (run.status != RunStatus::measured) profile.status = name_of(run.status);
    profile.reason = run.reason;
  }
  return profile;
}

}  // namespace

TEST_CASE("A profile names who holds memory that earlier iterations made") {
  json event = profile_event(rows_with("aten::mm", 0.006));
  event["memory"] = {{"peak", 30},
                     {"parameters", 5},
                     {"buffers", 0},
                     {"gradients", 0},
                     {"inputs", 10},
                     {"optimizer_state", 0},
                     {"workspace", 0},
                     {"activations", 0},
                     {"outside_tensors", 7},
                     {"gradients_made", 0},
                     {"kept_from_earlier_iterations", 15}};
  event["memory"]["holders"] = {
      {"torch.optim.optimizer._largest_grads",
       {{"bytes", 15}, {"tensors", 3}, {"shape", "5 int8"}, {"place", ""}}}};
  const Profile profile = profiled({answered({ready_event, event})});
  REQUIRE(profile.memory);
  CHECK(profile.memory->kept_from_earlier_iterations == 15);
  CHECK(profile.memory->outside_tensors == 7);
  CHECK(profile.memory->holders.at("torch.optim.optimizer._largest_grads").tensors == 3);
}

TEST_CASE("Runs of a profile are put together, operators that one did not see being zero there") {
  const Profile profile =
      profiled({answered({ready_event, profile_event(rows_with("aten::mm", 0.006))}),
                answered({ready_event, profile_event(rows_with("aten::add", 0.002))})});
  REQUIRE(profile.reason == "");
  REQUIRE(profile.operators.size() == 2);
  CHECK(profile.operators[0].self_seconds ==
        std::vector<std::vector<double>>{{0.006, 0.006}, {0, 0}});
  CHECK(profile.operators[1].self_seconds ==
        std::vector<std::vector<double>>{{0, 0}, {0.002, 0.002}});
}

TEST_CASE("A profile read back from its JSON is the same") {
  const Profile profile =
      profiled({answered({ready_event, profile_event(rows_with("aten::mm", 0.006))})});
  const std::string text = profiles_json({profile});
  CHECK(profiles_json(json::parse(text).at("items").get<std::vector<Profile>>()) == text);
}

TEST_CASE("A workload that cannot be profiled says why") {
  const json error = {{"event", "error"}, {"status", "unavailable"}, {"reason", "no CUDA device"}};
  Profile profile = profiled({answered({ready_event, error})});
  CHECK((profile.status == "unavailable" && profile.reason == "no CUDA device"));
  ProcessResult crashed = answered({ready_event});
  crashed.exit_code.reset();
  crashed.signal = 11;
  profile = profiled({crashed});
  CHECK((profile.status == "failed" && profile.reason.starts_with("crashed: ")));
  CHECK(profiled({answered({ready_event})}).reason == "the workload ended without a result");
}

TEST_CASE("A profile that is not as promised fails and names the field") {
  json event = profile_event(rows_with("aten::mm", 0.006));
  event["operators"][0].erase("flops");
  CHECK(profiled({answered({ready_event, event})}).reason.find("'flops'") != std::string::npos);
  event = profile_event(rows_with("aten::mm", 0.006));
  event["operators"][0]["self_seconds"] = {0.006};
  const Profile profile = profiled({answered({ready_event, event})});
  CHECK(profile.status == "failed");
  CHECK(profile.reason.find("aten::mm") != std::string::npos);
}

TEST_CASE("A profile of more operators than there are fails") {
  json operators = json::array();
  for (int i = 0; i < 10'001; ++i) operators.push_back(row_json(std::to_string(i), 1e-6, 0, 0));
  const Profile profile = profiled({answered({ready_event, profile_event(operators)})});
  CHECK(profile.status == "failed");
  CHECK(profile.reason.find("in 'operators': too many") != std::string::npos);
}

TEST_CASE("A torch from elsewhere is no profile of this build") {
  json ready = ready_event;
  ready["torch"]["path"] = "/other/torch";
  const Profile profile = profiled({answered({ready, profile_event(json::array())})});
  CHECK((profile.status == "failed" && profile.reason.find("/other/torch") != std::string::npos));
}

TEST_CASE("The table shows shares, limiters, and why memory was not divided") {
  const json rows = {row_json("aten::mm", 0.006, 600'000'000, 1'000'000),
                     row_json("aten::add", 0.002, 1000, 12'000)};
  Profile profile = profiled({answered({ready_event, profile_event(rows)})});
  profile.ceilings = Ceilings{"cpu", 1, {{"fp32", 200e9}}, 10e9};
  profile.ceilings->flops["bf16"] = 100e9;
  profile.ceilings->emulated = {"bf16"};
  profile.operators[0].kind = "contraction";
  profile.operators[1].kind = "elementwise";
  const std::string table = profile_table(profile);
  INFO(table);
  const auto line_of = [&](const std::string& start) {
    const auto begin = table.find(start);
    return table.substr(begin, table.find('\n', begin) - begin);
  };
  CHECK(line_of("aten::mm").find("60.0 %") != std::string::npos);
  CHECK(line_of("aten::mm").ends_with("50 %         math"));
  CHECK(line_of("aten::add").ends_with("inefficient"));
  const json operators = json::parse(profiles_json({profile}))["items"][0]["operators"];
  CHECK((operators[0]["name"] == "aten::mm" && operators[0]["limiter"] == "math"));
  CHECK((operators[1]["name"] == "aten::add" && operators[1]["limiter"] == "inefficient"));
  CHECK(line_of("contraction").find("75.0 %") != std::string::npos);
  CHECK(line_of("elementwise").find("25.0 %") != std::string::npos);
  CHECK(table.find("bf16 100.0 GFLOP/s (emulated: this CPU has no units for it; ridge") !=
        std::string::npos);
  CHECK(table.find("fp32 200.0 GFLOP/s (ridge") != std::string::npos);
  const json classes = json::parse(profiles_json({profile}))["items"][0]["classes"];
  CHECK((classes.size() == 2 && classes[0]["class"] == "contraction"));
  CHECK(classes[0]["seconds_share"] == .75);
  CHECK(table.find("no hooks here") != std::string::npos);
  CHECK(table.find("aten::mm in fp16 of 7 x 8 x 8: tensor cores want multiples of 8") !=
        std::string::npos);
}

TEST_CASE("A profile that never saw the machine undisturbed has no times, but counts") {
  json event = profile_event(json::array({row_json("aten::mm", 0.006, 600'000'000, 1'000'000)}));
  event["slowdown"] = {1.3, 1.4};
  Profile profile = profiled({answered({ready_event, event})});
  profile.ceilings = Ceilings{"cpu", 1, {{"fp32", 200e9}}, 10e9};
  const std::string table = profile_table(profile);
  INFO(table);
  CHECK(table.find("0 of 2 iterations undisturbed\nno run saw the machine undisturbed") !=
        std::string::npos);
  CHECK(table.find("600.0 MFLOP") != std::string::npos);
  CHECK(table.find("aten::mm  ") == std::string::npos);
  CHECK(json::parse(profiles_json({profile}))["items"][0]["operators"][0]["limiter"].is_null());
}

TEST_CASE("On a GPU the table has the kernels' times, which the limiters are of") {
  json rows = {row_json("aten::empty", 0.003, 0, 0),
               row_json("aten::mm", 0.001, 600'000'000, 1'000'000)};
  rows[1]["device_seconds"] = {0.004, 0.004};
  json event = profile_event(rows);
  event["gpu"] = {{{"active", 0.004}, {"moving", 0}, {"idle", 0.006}},
                  {{"active", 0.004}, {"moving", 0}, {"idle", 0.006}}};
  Profile profile = profiled({answered({ready_event, event})});
  profile.ceilings = Ceilings{"cuda", 1, {{"fp32", 200e9}}, 10e9};
  const std::string table = profile_table(profile);
  INFO(table);
  CHECK(table.find("GPU: active 40 %, moving data 0 %, idle 60 %") != std::string::npos);
  const auto product = table.find("aten::mm "), empty = table.find("aten::empty ");
  REQUIRE((product != std::string::npos && product < empty));  // its kernels take longest
  const std::string line = table.substr(product, table.find('\n', product) - product);
  CHECK(line.find("1.000  10.0 %   4.000") != std::string::npos);
  CHECK(line.ends_with("75 %     math"));
  CHECK(table.substr(empty, table.find('\n', empty) - empty).ends_with("-        -"));
  const json operators = json::parse(profiles_json({profile}))["items"][0]["operators"];
  CHECK((operators[0]["name"] == "aten::empty" && operators[0]["limiter"].is_null()));
  CHECK((operators[1]["name"] == "aten::mm" && operators[1]["limiter"] == "math"));

  event["slowdown"] = {1.3, 1.4};  // of the host
  Profile disturbed = profiled({answered({ready_event, event})});
  disturbed.ceilings = profile.ceilings;
  const std::string of_kernels = profile_table(disturbed);
  INFO(of_kernels);
  CHECK(of_kernels.find("so the host has no times") != std::string::npos);
  const auto kernels = of_kernels.find("aten::mm ");
  REQUIRE(kernels != std::string::npos);
  const std::string row = of_kernels.substr(kernels, of_kernels.find('\n', kernels) - kernels);
  CHECK(row.find("-      -   4.000") != std::string::npos);
  CHECK(row.ends_with("75 %     math"));
}
