// Where a workload's time and memory go: what `nightjar-runner profile` finds out and writes as
// JSON, and what a difference of two builds is read from.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nightjar {

// What a machine class can do at most with `threads` threads, measured.
struct Ceilings {
  std::string device = "cpu";
  int threads = 1;
  std::map<std::string, double> flops;  // FLOP/s of matrix products, by type: "fp32", "bf16", ...
  double bytes = 0;                     // bytes/s of a copy, read and written
  std::vector<std::string> emulated = {};  // types that this CPU has no units for
};

// One process. All lists go by iteration; seconds have the profiler's cost in them.
struct ProfileRun {
  double plain_seconds = 0;                                // of an iteration without the profiler
  std::vector<double> iteration_seconds, outside_seconds;  // outside: in no operator
  std::vector<double> slowdown;                            // see RunResult
  std::vector<double> active_seconds, moving_seconds,
      idle_seconds;  // of the GPU; empty without one
};

struct OperatorProfile {
  std::string name;
  std::vector<std::vector<double>> self_seconds, device_seconds;  // by run and iteration
  double calls = 0;  // an iteration, as are the next three
  std::int64_t flops = 0, bytes = 0;
  std::int64_t unknown = 0;  // calls whose floating-point operations are not known
  std::string dtype;         // the floating type of most bytes; empty: none
  std::string kind = {};     // "contraction", "normalisation", "elementwise", "movement"; or empty
};

// Tensors that earlier iterations made and that one module, class or function still holds.
struct HeldTensors {
  std::int64_t bytes = 0, tensors = 0;
  std::string shape = {};  // of most of them, "1000x512 fp32"
  std::string place = {};  // "torch/optim/optimizer.py, line 41"; empty: unknown
};

// Bytes at the peak of an iteration; the parts sum to `peak`. `kept_from_earlier_iterations` is no
// part of a model or an optimizer. Beside the peak: `gradients_made` are of the whole iteration,
// and `outside_tensors` is what the process had at its own peak (on a GPU: what its allocator gave
// out) less all tensors.
struct MemorySplit {
  std::int64_t peak = 0, parameters = 0, buffers = 0, gradients = 0, optimizer_state = 0,
               inputs = 0, kept_from_earlier_iterations = 0, activations = 0, workspace = 0,
               gradients_made = 0, outside_tensors = 0;
  // Divides `kept_from_earlier_iterations` by the name of what holds them, where that is known.
  std::map<std::string, HeldTensors> holders = {};
};

// Name and bytes of each part, the peak first and what is outside of tensors last. Left out are
// `gradients_made`, and the other two that earlier profiles do not have if they are empty.
std::vector<std::pair<std::string, std::int64_t>> parts_of(const MemorySplit& split);

// A matrix product, or a convolution as one, that misses tensor cores at full speed. `kind` says
// why: "alignment" (sizes are no multiples of `multiple`), "precision" (float32 without TF32),
// "layout" (a convolution whose channels do not come last) or "tile" (the last tiles of `multiple`
// rows and columns are mostly empty).
struct ProductHint {
  std::string operation, dtype;
  std::vector<std::int64_t> dimensions;
  int multiple = 0;
  std::string kind = "alignment";
};
// "aten::mm in fp16 of 7 x 8 x 8: tensor cores want multiples of 8"
std::string text_of(const ProductHint& hint);

struct Profile {
  std::string workload;
  int version = 1;
  std::string status = "profiled";  // or "failed", "unavailable"
  std::string reason;               // why not
  std::string torch_version, torch_commit;
  std::map<std::string, std::string> machine;
  int threads = 1;
  std::vector<ProfileRun> runs;
  std::vector<OperatorProfile> operators;
  std::optional<MemorySplit> memory;
  std::string memory_reason;  // why there is no split
  std::vector<ProductHint> hints;
  std::optional<Ceilings> ceilings;
};

// Adds the runs of `more`, a profile of the same workload on the same build. An operator that one
// side did not see took no time there; counts of an iteration are the last profile's that saw it.
void append(Profile& profile, const Profile& more);

void to_json(nlohmann::json& json, const Ceilings& ceilings);
void from_json(const nlohmann::json& json, Ceilings& ceilings);
void to_json(nlohmann::json& json, const Profile& profile);
void from_json(const nlohmann::json& json, Profile& profile);  // throws nlohmann::json::exception
void from_json(const nlohmann::json& json, MemorySplit& split);
void from_json(const nlohmann::json& json, ProductHint& hint);

}  // namespace nightjar
