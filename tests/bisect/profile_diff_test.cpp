#include "bisect/profile_diff.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

using Seconds = std::vector<double>;

// Runs of four iterations; `level` is each run's time in mm, everything else stays.
Profile profile_of(const Seconds& levels, double calls = 3) {
  Profile profile;
  profile.workload = "python/x/eval/cpu/fp32/b1/eager";
  OperatorProfile mm, relu;
  mm.name = "aten::mm";
  mm.calls = calls;
  relu.name = "aten::relu";
  relu.calls = 1;
  for (const double level : levels) {
    profile.runs.push_back(
        {1, Seconds(4, level + 2), Seconds(4, 1.0), Seconds(4, 1.0), {}, {}, {}});
    mm.self_seconds.push_back(Seconds(4, level));
    relu.self_seconds.push_back(Seconds(4, 1.0));
    mm.device_seconds.push_back(Seconds(4, 0.0));
    relu.device_seconds.push_back(Seconds(4, 0.0));
  }
  profile.operators = {mm, relu};
  return profile;
}

}  // namespace

TEST_CASE("The operator that got slower is named with its share of the whole change") {
  const ProfileDiff diff = difference(profile_of({5, 5.1, 4.9}), profile_of({6, 6.1, 5.9}, 4));
  REQUIRE(diff.changes.size() == 1);
  const OperatorChange& change = diff.changes.front();
  CHECK(change.name == "aten::mm");
  CHECK(change.kind == ChangeKind::slower);
  CHECK(change.after.seconds - change.before.seconds == Approx(1));
  CHECK(change.share == Approx(1));
  CHECK((change.before.calls == 3 && change.after.calls == 4));
}

TEST_CASE("Memory is compared part by part where both sides were divided") {
  Profile before = profile_of({5, 5.1}), after = profile_of({5, 5.1});
  CHECK(difference(before, after).memory.empty());
  before.memory = MemorySplit{.peak = 30, .parameters = 10, .workspace = 20};
  after.memory = MemorySplit{.peak = 45, .parameters = 10, .workspace = 35};
  const auto memory = difference(before, after).memory;
  REQUIRE(memory.size() == 8);
  CHECK(
      (memory.front().part == "peak" && memory.front().before == 30 && memory.front().after == 45));
  CHECK((memory.back().part == "workspace" && memory.back().after - memory.back().before == 15));
}

TEST_CASE("Memory that earlier iterations made is told with who holds it") {
  Profile before = profile_of({5, 5.1}), after = profile_of({5, 5.1});
  before.memory = MemorySplit{.peak = 30, .inputs = 10, .workspace = 20};
  after.memory =
      MemorySplit{.peak = 45, .inputs = 10, .kept_from_earlier_iterations = 15, .workspace = 20};
  after.memory->holders = {{"torch.optim.optimizer._largest_grads",
                            {15, 3, "5 int8", "torch/optim/optimizer.py, line 41"}}};
  for (const bool swapped : {false, true}) {
    const auto memory =
        swapped ? difference(after, before).memory : difference(before, after).memory;
    REQUIRE(memory.size() == 10);
    const auto& kept = memory[swapped ? 8 : 6];
    CHECK(kept.part == "kept from earlier iterations");
    CHECK((swapped ? kept.before : kept.after) == 15);
    CHECK((swapped ? kept.after : kept.before) == 0);
    CHECK(memory[9].part ==
          "kept from earlier iterations: 3 tensors of 5 int8, held by "
          "torch.optim.optimizer._largest_grads (torch/optim/optimizer.py, line 41)");
    CHECK((swapped ? memory[9].before : memory[9].after) == 15);
  }
}

TEST_CASE("Memory that no tensor has is told, too") {
  Profile before = profile_of({5, 5.1}), after = profile_of({5, 5.1});
  before.memory = MemorySplit{.peak = 30, .outside_tensors = 100};
  after.memory = MemorySplit{.peak = 30, .outside_tensors = 165};
  const auto memory = difference(before, after).memory;
  CHECK(memory.front().after == memory.front().before);
  CHECK(memory.back().part == "outside tensors");
  CHECK(memory.back().after - memory.back().before == 65);
}

TEST_CASE("Kernels are compared with the GPU's time, which is a small part of an iteration") {
  Profile before = profile_of({5, 5.1, 4.9, 5}), after = before;
  for (Profile* one : {&before, &after})
    for (auto& seconds : one->operators[1].device_seconds) seconds.assign(4, .1);
  for (std::size_t run = 0; run < 4; ++run) {
    const double factor = 1 + .001 * static_cast<double>(run);
    before.operators[0].device_seconds[run].assign(4, .9 * factor);
    after.operators[0].device_seconds[run].assign(4, .91 * factor);
  }
  const ProfileDiff diff = difference(before, after);
  CHECK(diff.changes.empty());  // .01 s of an iteration of 7 s
  CHECK(diff.device_before.seconds == Approx(1).epsilon(.002));
  REQUIRE(diff.kernels.size() == 1);
  const OperatorChange& change = diff.kernels.front();
  CHECK((change.name == "aten::mm" && change.on_device && change.clear));
  CHECK(change.share == Approx(1));
}

TEST_CASE("Kernels are compared though the host was disturbed throughout") {
  Profile before = profile_of({5, 5.1, 4.9, 5}), after = before;
  for (auto& seconds : before.operators[0].device_seconds) seconds.assign(4, .9);
  for (auto& seconds : after.operators[0].device_seconds) seconds = {.91, .91, .91, 7};
  for (ProfileRun& run : before.runs) run.slowdown = Seconds(4, 1.3);
  const ProfileDiff diff = difference(before, after);
  CHECK((diff.runs == 0 && diff.device_runs == 4));
  REQUIRE(diff.kernels.size() == 1);
  CHECK((diff.kernels[0].clear && diff.kernels[0].kind == ChangeKind::slower));
  CHECK(diff.kernels[0].before.calls == 3);
  CHECK(diff.kernels[0].after.seconds == Approx(.91));
}

TEST_CASE("A change within the difference of runs is not named") {
  CHECK(difference(profile_of({5, 6, 4}), profile_of({6, 6.1, 5.9})).changes.empty());
}

TEST_CASE("A change of calls is named although time does not show it, after what is clear") {
  const ProfileDiff diff = difference(profile_of({5, 6, 4}, 3), profile_of({5, 6, 4}, 2));
  REQUIRE(diff.changes.size() == 1);
  CHECK(!diff.changes.front().clear);
}

TEST_CASE("With fewer than four runs a side nothing is clear") {
  const Seconds before{5, 5.1, 4.9, 5, 5.1}, after{6, 6.1, 5.9, 6, 6.1};
  for (std::size_t runs = 1; runs <= 5; ++runs) {
    const Seconds few(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(runs));
    for (const ProfileDiff& diff : {difference(profile_of(before), profile_of(few)),
                                    difference(profile_of(few), profile_of(before))}) {
      CHECK(diff.runs == runs);
      REQUIRE(diff.changes.size() == 1);
      CHECK(diff.changes.front().apart);
      CHECK(diff.changes.front().clear == (runs >= 4));
    }
  }
}

TEST_CASE("A clear change of less than one percent of the iteration is not named") {
  CHECK(difference(profile_of({5, 5, 5}), profile_of({5.05, 5.05, 5.05})).changes.empty());
}

TEST_CASE(
    "New and vanished operators and time outside of operators are named, the greatest first") {
  Profile before = profile_of({5, 5, 5}), after = profile_of({5, 5, 5});
  before.operators[1].name = "aten::gelu";
  for (ProfileRun& run : after.runs) run.outside_seconds = Seconds(4, 4.0);
  const ProfileDiff diff = difference(before, after);
  REQUIRE(diff.changes.size() == 3);
  CHECK((diff.changes[0].name == outside_operators && diff.changes[0].kind == ChangeKind::slower));
  CHECK((diff.changes[1].name == "aten::gelu" && diff.changes[1].kind == ChangeKind::vanished));
  CHECK((diff.changes[2].name == "aten::relu" && diff.changes[2].kind == ChangeKind::appeared));
}

TEST_CASE("Runs that were disturbed throughout are no runs of a difference") {
  const Profile before = profile_of({5, 5.1, 4.9, 5});
  Profile after = profile_of({6, 6.1, 5.9, 6, 99});
  after.runs[4].slowdown = Seconds(4, 1.3);
  CHECK(difference(before, after).runs == 4);
  CHECK(difference(before, after).changes.at(0).after.high == Approx(6.1));
  for (ProfileRun& run : after.runs) run.slowdown = Seconds(4, 1.3);
  CHECK(difference(before, after).runs == 0);
  CHECK(difference(before, after).changes.empty());
  after.operators[0].calls = 4;
  CHECK_FALSE(difference(before, after).changes.at(0).apart);
}

TEST_CASE("With one run a side the middle half of its iterations stands for its runs") {
  Profile before = profile_of({5}), noisy = profile_of({6});
  CHECK(difference(before, noisy).changes.size() == 1);
  noisy.operators[0].self_seconds = {{3, 4.5, 6.5, 9}};
  CHECK(difference(before, noisy).changes.empty());
}
