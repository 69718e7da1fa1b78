-- Whether a compiled workload computed what eager does, in dynamo's words. NULL: of eager and control runs, and of
-- those from before, whose word was not kept.
ALTER TABLE run ADD COLUMN accuracy TEXT CHECK (accuracy IN ('pass', 'pass_due_to_skip', 'fail_accuracy',
  'eager_variation', 'fail_to_run', 'eager_fail_to_run', 'eager_1st_run_OOM', 'eager_1st_run_fail',
  'eager_2nd_run_OOM', 'eager_2nd_run_fail', 'eager_two_runs_differ', 'model_fail_to_load', 'infra_error', 'timeout',
  'OOM'));
