#include "runner/catalog/variants.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "runner/run/batch_sweep.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::runner;

namespace {

CatalogEntry entry(const char* name, int version, WorkloadKind kind) {
  return {*WorkloadName::parse(name), version, kind};
}

const std::vector<CatalogEntry> some_catalog = {
    entry("python/dlrm/eval/cpu/fp32/b128/eager", 3, WorkloadKind::python),
    entry("native/dlrm/eval/cpu/fp32/b128/eager", 2, WorkloadKind::native)};

}  // namespace

TEST_CASE(
    "A listed workload exists in other precisions, batch sizes, backends and on CUDA by its exact "
    "name") {
  for (const char* name :
       {"python/dlrm/eval/cpu/fp32/b128/inductor", "python/dlrm/eval/cpu/bf16/b128/eager",
        "python/dlrm/eval/cuda/amp/b1/inductor-max-autotune",
        "python/dlrm/eval/cpu/fp32/bmax/eager"}) {
    const auto catalog = with_variants(some_catalog, {name});
    REQUIRE(catalog.size() == 3);
    CHECK(catalog[2].name.str() == name);
    CHECK(catalog[2].version == 3);
    CHECK(select(catalog, {name}).size() == 1);
  }
  CHECK(with_variants(some_catalog, {"native/dlrm/eval/cpu/bf16/b16/eager"})[2].version == 2);
}

TEST_CASE("A listed workload exists in its other size and with any thread count") {
  const std::vector<CatalogEntry> catalog = {
      entry("hf/vit_b16-small/eval/cpu/fp32/b4/eager", 5, WorkloadKind::python),
      entry("native/dlrm/eval/cpu/fp32/b128/eager", 2, WorkloadKind::native)};
  for (const char* name :
       {"hf/vit_b16-paper/eval/cpu/fp32/b1/inductor-dynamic-t2",
        "hf/vit_b16-small/eval/cpu/fp32/b4/eager-t8", "native/dlrm/eval/cpu/fp32/b128/eager-t2"}) {
    INFO(name);
    CHECK(with_variants(catalog, {name}).size() == 3);
  }
  for (const char* name :
       {"hf/vit_b16-large/eval/cpu/fp32/b4/eager", "hf/vit_b16/eval/cpu/fp32/b4/eager",
        "hf/vit_b16-small/eval/cpu/fp32/b4/eager-t0", "native/dlrm-paper/eval/cpu/fp32/b1/eager",
        "native/dlrm/eval/cpu/fp32/b128/inductor-t2"}) {
    INFO(name);
    CHECK(with_variants(catalog, {name}).size() == 2);
  }
}

TEST_CASE("What varies nothing that is listed, in a way that the programs know, is no workload") {
  for (const char* name :
       {"python/vgg/eval/cpu/fp32/b1/eager", "python/dlrm/train/cpu/fp32/b128/eager",
        "python/dlrm/eval/tpu/fp32/b128/eager", "python/dlrm/eval/cpu/fp8/b128/eager",
        "python/dlrm/eval/cpu/fp32/b128/tvm", "native/dlrm/eval/cpu/fp32/b128/inductor",
        "python/dlrm/eval/cpu/fp32/b0/eager", "python/dlrm/*/cpu/fp32/b1/eager",
        "python/dlrm/eval/cpu/fp32/b128/eager"})
    CHECK(with_variants(some_catalog, {name}).size() == some_catalog.size());
}

namespace {

BatchPoint point(int batch, double throughput) {
  return {batch, RunStatus::measured, batch / throughput, ""};
}
BatchPoint failed(int batch, RunStatus status) {
  return {batch, status, {}, "as scripted"};
}

// All that a sweep tries on a machine that gives `throughput(batch)` items/s, or fails.
std::vector<int> sizes_tried(const std::function<BatchPoint(int)>& machine, SweepResult& result) {
  std::vector<int> tried;
  result = sweep_batches(some_catalog[0], [&](const CatalogEntry&, int batch) {
    tried.push_back(batch);
    return machine(batch);
  });
  return tried;
}

}  // namespace

TEST_CASE("The sweep doubles the batch until throughput gains less than 5 % in two doublings") {
  SweepResult result;
  // 200, 333, 500, 667, 800, 889, 941, 970, 985
  const auto saturating = [](int batch) { return point(batch, 1000.0 * batch / (batch + 4.0)); };
  CHECK(sizes_tried(saturating, result) == std::vector<int>{1, 2, 4, 8, 16, 32, 64, 128, 256});
  CHECK(result.batch == 64);  // 941 items/s, of 985
}

TEST_CASE(
    "Of sizes within 5 % of the best the smallest is taken, so that noise does not double it") {
  CHECK(best_batch({point(1, 100), point(2, 196), point(4, 200), point(8, 201)}) == 2);
  CHECK(best_batch({point(1, 100), point(2, 50)}) == 1);
}

TEST_CASE("A sweep that a disturbed machine cuts short finds no batch size") {
  SweepResult result;
  const auto disturbed = [](int batch) {
    return batch < 4 ? point(batch, 100.0 * batch) : failed(batch, RunStatus::measured);
  };
  CHECK(sizes_tried(disturbed, result) == std::vector<int>{1, 2, 4});
  CHECK_FALSE(result.batch);
  CHECK(result.reason.find("b4 saw the machine undisturbed") != std::string::npos);
}

TEST_CASE("The sweep ends where memory does, and at iterations of over a second") {
  SweepResult result;
  const auto small = [](int batch) {
    return batch < 16 ? point(batch, 100.0 * batch) : failed(batch, RunStatus::out_of_memory);
  };
  CHECK(sizes_tried(small, result) == std::vector<int>{1, 2, 4, 8, 16});
  CHECK(result.batch == 8);
  CHECK_FALSE(next_batch({point(1, 10), point(2, 1.9)}));
  CHECK(next_batch({point(1, 10), point(2, 10)}) == 4);
}

TEST_CASE(
    "A model that refuses small batches is tried at larger ones, and one that refuses all says "
    "why") {
  SweepResult result;
  sizes_tried(
      [](int batch) { return batch < 4 ? failed(batch, RunStatus::failed) : point(batch, 100); },
      result);
  CHECK(result.batch == 4);
  CHECK(sizes_tried([](int batch) { return failed(batch, RunStatus::failed); }, result).back() ==
        64);
  CHECK_FALSE(result.batch);
  CHECK(result.reason == "no batch size up to b64 could be run; the last one: as scripted");
  CHECK(
      sizes_tried([](int batch) { return failed(batch, RunStatus::unavailable); }, result).size() ==
      1);
}

TEST_CASE(
    "A batch size stays pinned for its machine class and workload, and a spoilt file holds none") {
  const Scratch scratch;
  const PinnedBatches pinned(scratch / "");
  const CatalogEntry most = at_batch(some_catalog[0], "bmax");
  CHECK(most.name.str() == "python/dlrm/eval/cpu/fp32/bmax/eager");
  CHECK_FALSE(pinned.find("a", most));
  pinned.pin("a", most, 512);
  pinned.pin("b", most, 64);
  CHECK(pinned.find("a", most) == 512);
  CHECK(pinned.find("b", most) == 64);
  CHECK_FALSE(pinned.find("a", at_batch(some_catalog[1], "bmax")));
  spit(scratch / "batches.json", "[1");
  CHECK_FALSE(pinned.find("a", most));
}
