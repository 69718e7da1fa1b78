// Whether a compiled workload computes what eager does, in the words of PyTorch's dynamo runners
// and one of ours: no_evidence, where there was nothing to compare.
#pragma once

#include "storage/model/enum.hpp"

namespace nightjar {

// With model_fail_to_load and words that begin with `eager`, the run never reached the compiler.
NIGHTJAR_ENUM(Accuracy, pass, pass_due_to_skip, fail_accuracy, eager_variation, fail_to_run,
              eager_fail_to_run, eager_1st_run_OOM, eager_1st_run_fail, eager_2nd_run_OOM,
              eager_2nd_run_fail, eager_two_runs_differ, model_fail_to_load, infra_error, timeout,
              OOM, no_evidence);

}  // namespace nightjar
