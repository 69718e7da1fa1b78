// The name of what is run, suite/model/task/device/precision/bN/backend, and globs that select
// names. Used by the planner, the runner and the REST queries.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "storage/model/id.hpp"

namespace nightjar {

// E.g. native/resnet18/eval/cpu/fp32/b4/eager. Every part is [A-Za-z0-9_.-]+.
class WorkloadName {
 public:
  // nullopt unless `text` has seven well-formed parts, the sixth being bN, bmax or bdefault (what
  // an imported history does not say).
  static std::optional<WorkloadName> parse(std::string_view text);
  const std::string& str() const { return text_; }
  std::string_view suite() const { return part(0); }
  std::string_view model() const { return part(1); }
  std::string_view task() const { return part(2); }
  std::string_view device() const { return part(3); }
  std::string_view precision() const { return part(4); }
  std::string_view batch() const { return part(5); }
  std::string_view backend() const { return part(6); }
  // The same on another device; nullopt if `device` is no word.
  std::optional<WorkloadName> on(std::string_view device) const;
  // The same model, task and device run in another way; nullopt if one of these is no such part.
  std::optional<WorkloadName> variant(std::string_view precision, std::string_view batch,
                                      std::string_view backend) const;
  auto operator<=>(const WorkloadName&) const = default;

 private:
  explicit WorkloadName(std::string_view text) : text_(text) {}
  std::string_view part(int index) const;
  std::string text_;
};

// `*` matches within a part, `**` any number of characters including '/', `?` one character.
bool glob_match(std::string_view glob, std::string_view text);

// What a workload gave with the last build that passed, as the checksum of its output (the sum of
// the magnitudes), and the share of it by which another build's may differ.
struct ExpectedResult {
  double checksum = 0;
  double tolerance = 0;
};

// The share by which checksums of one workload may differ between builds: .001 in fp32 and fp64,
// .02 in any lower precision. PyTorch's kernels may add in another order, which moves a sum of
// thousands of elements by far less; torch.testing.assert_close allows single elements 1.3e-6 in
// fp32 and .016 in bf16.
double result_tolerance(const WorkloadName& name);

// A workload as stored: a changed definition is a new version, hence a new series. `expected`: what
// its runs must give, in the spec of a job.
struct Workload {
  WorkloadId id;
  WorkloadName name;
  int version = 1;
  std::optional<ExpectedResult> expected = {};
};

}  // namespace nightjar
