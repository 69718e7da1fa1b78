-- What is measured and what was decided, as schema version 38 has it; later versions are in migrations/.
-- Times are microseconds since 1970 (`_us`), ids are 64 bits, enumerators are spelled as in C++
-- (storage/model). Blobs are doubles, little-endian.

CREATE TABLE build (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('nightly', 'ci', 'overlay', 'source', 'crossed')),
  version TEXT NOT NULL,
  variant TEXT NOT NULL,
  date TEXT NOT NULL,
  url TEXT NOT NULL,
  commit_sha TEXT CHECK (length(commit_sha) = 40),
  nightly_commit TEXT CHECK (length(nightly_commit) = 40),
  sha256 TEXT CHECK (length(sha256) = 64),
  base INTEGER REFERENCES build (id),
  state TEXT NOT NULL CHECK (state IN ('found', 'proved', 'unproved', 'unusable', 'imported')),
  reason TEXT NOT NULL,
  found_at_us INTEGER NOT NULL,
  -- What a wheel says of the machines that can run it; NULL: it does not say.
  python_tag TEXT,
  platform_tag TEXT,
  glibc TEXT,
  gpu_architectures TEXT,
  -- NULL: it is installed with the packages of the runner's own Python.
  lock TEXT REFERENCES lock (sha256),
  UNIQUE (version, variant, kind, url)
) STRICT;
CREATE INDEX build_by_state ON build (state, kind, variant, date);
CREATE INDEX build_by_commit ON build (commit_sha);

CREATE TABLE workload (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  UNIQUE (name, version)
) STRICT;

CREATE TABLE machine (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE CHECK (length(fingerprint) = 64),
  facts TEXT NOT NULL CHECK (json_valid(facts)),
  -- "name=value" lines of the facts that make the class. Of several rows that are one class now, the one that was
  -- used last goes on, with its series; the others keep theirs and have no class.
  class TEXT
) STRICT;
CREATE UNIQUE INDEX machine_by_class ON machine (class);

CREATE TABLE runner (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  machine INTEGER NOT NULL REFERENCES machine (id),
  labels TEXT NOT NULL CHECK (json_valid(labels)),
  workloads TEXT NOT NULL CHECK (json_valid(workloads)),
  version TEXT NOT NULL,
  seen_at_us INTEGER NOT NULL,
  token TEXT NOT NULL DEFAULT '',
  -- Which host a runner's name stands for..
  instance TEXT NOT NULL DEFAULT '',
  -- Lost attempts in a row; from the third on it gets no job for a while, which doubles. `trouble` says why.
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  quarantined_until_us INTEGER NOT NULL DEFAULT 0,
  trouble TEXT NOT NULL DEFAULT '',
  facts INTEGER REFERENCES machine_facts (id),
  -- It said that it ends, and has not registered since.
  has_left INTEGER NOT NULL DEFAULT 0 CHECK (has_left IN (0, 1))
) STRICT;

CREATE TABLE night (
  id INTEGER PRIMARY KEY,
  trigger TEXT NOT NULL CHECK (trigger IN ('schedule', 'webhook', 'api', 'build', 'imported')),
  state TEXT NOT NULL CHECK (state IN ('waiting', 'measuring', 'judging', 'done', 'cancelled')),
  build INTEGER REFERENCES build (id),
  reason TEXT NOT NULL,
  started_at_us INTEGER NOT NULL,
  finished_at_us INTEGER,
  cancelled_by TEXT NOT NULL DEFAULT '',
  -- Series of the newest night whose search is still to be replayed, in order.
  replays_queued INTEGER NOT NULL DEFAULT 0 CHECK (replays_queued IN (0, 1)),
  -- 1: the night's suites are summed up, and it got no values since.
  summed_up INTEGER NOT NULL DEFAULT 0 CHECK (summed_up IN (0, 1))
) STRICT;
CREATE INDEX night_by_build ON night (build);
CREATE INDEX night_by_state ON night (state);
CREATE INDEX night_to_sum_up ON night (started_at_us, id)
  WHERE state = 'done' AND summed_up = 0 AND build IS NOT NULL;

-- `attempt` counts claims; `lost` those whose lease ran out.
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  night INTEGER NOT NULL REFERENCES night (id),
  machine INTEGER REFERENCES machine (id),
  kind TEXT NOT NULL CHECK (kind IN ('screen', 'confirm', 'bisect', 'calibrate', 'profile', 'build')),
  spec TEXT NOT NULL CHECK (json_valid(spec)),
  state TEXT NOT NULL CHECK (state IN ('queued', 'leased', 'done', 'failed', 'cancelled')),
  priority INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  lost INTEGER NOT NULL DEFAULT 0,
  runner INTEGER REFERENCES runner (id),
  affinity INTEGER REFERENCES runner (id),
  lease_until_us INTEGER,
  reason TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  restarted INTEGER NOT NULL DEFAULT 0 CHECK (restarted IN (0, 1)),
  -- The job whose void session this one measures again.
  repeats INTEGER REFERENCES job (id),
  -- Drawn at each claim and told to the claimer alone. Job ids and attempts start again in an empty or a restored
  -- database; a nonce never comes twice.
  nonce TEXT NOT NULL DEFAULT '',
  -- Times that a runner gave it back because something on its side was in the way.
  put_off INTEGER NOT NULL DEFAULT 0 CHECK (put_off >= 0),
  -- Since when no live runner can claim it; NULL: one can.
  unclaimable_since_us INTEGER,
  -- The facts of the runner that claimed the job last.
  facts INTEGER REFERENCES machine_facts (id),
  -- That of the session's builds. NULL: it has none, as a build from source.
  variant TEXT,
  CHECK ((state = 'leased') = (lease_until_us IS NOT NULL))
) STRICT;
CREATE INDEX job_by_lease ON job (lease_until_us) WHERE state = 'leased';
CREATE INDEX job_by_state ON job (state);
CREATE INDEX job_by_night ON job (night, kind);
CREATE INDEX job_to_calibrate ON job (id) WHERE kind = 'calibrate';
CREATE INDEX job_by_repeated ON job (repeats) WHERE repeats IS NOT NULL;
CREATE INDEX job_to_build ON job (priority DESC, id) WHERE state = 'queued' AND kind = 'build';
CREATE INDEX job_to_claim ON job (machine, priority DESC, id, variant) WHERE state = 'queued';
-- Which sessions a machine measured while these were its facts.
CREATE INDEX job_by_facts ON job (facts) WHERE facts IS NOT NULL;

-- What a runner must be able to run, as it says it: <name>@<version>.
CREATE TABLE job_workload (
  job INTEGER NOT NULL REFERENCES job (id),
  workload TEXT NOT NULL,
  PRIMARY KEY (job, workload)
) STRICT, WITHOUT ROWID;

-- What came back with a done job, but for its runs.
CREATE TABLE session (
  job INTEGER PRIMARY KEY REFERENCES job (id),
  stored_at_us INTEGER NOT NULL,
  frame TEXT NOT NULL CHECK (json_valid(frame)),
  samples_dropped_us INTEGER
) STRICT;
CREATE INDEX session_with_samples ON session (stored_at_us) WHERE samples_dropped_us IS NULL;

-- build and workload are null for a control run. Blobs are doubles, little-endian.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL REFERENCES job (id),
  position INTEGER NOT NULL,
  build INTEGER REFERENCES build (id),
  workload INTEGER REFERENCES workload (id),
  status TEXT NOT NULL CHECK (status IN ('measured', 'failed', 'crashed', 'timed_out',
    'out_of_memory', 'wrong_result', 'unavailable', 'broken_environment')),
  reason TEXT NOT NULL,
  checksum REAL,
  warmup_iterations INTEGER NOT NULL,
  started_at_us INTEGER NOT NULL,
  seconds REAL NOT NULL,
  expected_checksum REAL,
  tolerance REAL NOT NULL DEFAULT 0,
  -- Whether a compiled workload computed what eager does, in dynamo's words. NULL: of eager and control runs, and of
  -- those from before, whose word was not kept.
  accuracy TEXT CHECK (accuracy IN ('pass', 'pass_due_to_skip', 'fail_accuracy',
  'eager_variation', 'fail_to_run', 'eager_fail_to_run', 'eager_1st_run_OOM', 'eager_1st_run_fail',
  'eager_2nd_run_OOM', 'eager_2nd_run_fail', 'eager_two_runs_differ', 'model_fail_to_load', 'infra_error', 'timeout',
  'OOM', 'no_evidence')),
  UNIQUE (job, position)
) STRICT;
CREATE INDEX run_by_build ON run (build);
CREATE INDEX run_by_workload ON run (workload);

CREATE TABLE sample (
  run INTEGER NOT NULL REFERENCES run (id),
  metric TEXT NOT NULL,
  samples BLOB NOT NULL,
  PRIMARY KEY (run, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  workload INTEGER NOT NULL REFERENCES workload (id),
  metric TEXT NOT NULL,
  machine INTEGER NOT NULL REFERENCES machine (id),
  variant TEXT NOT NULL,
  UNIQUE (workload, metric, machine, variant)
) STRICT;

-- One run's location in one series, clustered so that a series is read in one stretch whatever the
-- number of runs. screened: measured by a screen job, as the points of a series are. The run is
-- written in the same transaction, so its references are not checked again.
CREATE TABLE series_value (
  series INTEGER NOT NULL,
  build INTEGER NOT NULL,
  run INTEGER NOT NULL,
  screened INTEGER NOT NULL CHECK (screened IN (0, 1)),
  value REAL NOT NULL,
  wait_share REAL NOT NULL,
  PRIMARY KEY (series, build, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE level (
  series INTEGER NOT NULL REFERENCES series (id),
  build INTEGER NOT NULL REFERENCES build (id),
  night INTEGER NOT NULL REFERENCES night (id),
  value REAL NOT NULL,
  runs INTEGER NOT NULL,
  PRIMARY KEY (series, build)
) STRICT, WITHOUT ROWID;
CREATE INDEX level_by_night ON level (series, night);

-- `lead` is the first of its series; `part` counts further culprits of the same search. The culprit's
-- numbers are null until there is one.
CREATE TABLE regression (
  id INTEGER PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('suspected', 'confirmed', 'bisecting', 'blamed', 'reported',
    'recovered', 'dismissed', 'inconclusive', 'merged', 'unconfirmed', 'range', 'unattributed', 'historical')),
  night INTEGER NOT NULL REFERENCES night (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  good INTEGER NOT NULL REFERENCES build (id),
  bad INTEGER NOT NULL REFERENCES build (id),
  lead INTEGER NOT NULL REFERENCES series (id),
  part INTEGER NOT NULL,
  culprit_probability REAL,
  culprit_ratio REAL,
  culprit_low REAL,
  culprit_high REAL,
  merged_into INTEGER REFERENCES regression (id),
  fingerprint TEXT NOT NULL,
  issue_number INTEGER,
  issue_url TEXT NOT NULL,
  opened_at_us INTEGER NOT NULL,
  updated_at_us INTEGER NOT NULL,
  unfinished INTEGER NOT NULL DEFAULT 0 CHECK (unfinished >= 0),
  found_by TEXT NOT NULL DEFAULT 'screening'
  CHECK (found_by IN ('screening', 'creep', 'search', 'history')),
  -- The commits and figures of a regression whose search ended with a range stand where a culprit's would.
  is_range INTEGER NOT NULL DEFAULT 0 CHECK (is_range IN (0, 1)),
  UNIQUE (night, lead, bad, part)
) STRICT;
CREATE INDEX regression_by_state ON regression (state);
CREATE INDEX regression_by_fingerprint ON regression (fingerprint) WHERE fingerprint <> '';
CREATE INDEX regression_of_history ON regression (lead) WHERE found_by = 'history';
CREATE INDEX regression_by_merged ON regression (merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE regression_series (
  regression INTEGER NOT NULL REFERENCES regression (id),
  position INTEGER NOT NULL,
  series INTEGER NOT NULL REFERENCES series (id),
  before REAL,
  after REAL,
  ratio REAL,
  low REAL,
  high REAL,
  PRIMARY KEY (regression, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE regression_commit (
  regression INTEGER NOT NULL REFERENCES regression (id),
  position INTEGER NOT NULL,
  commit_sha TEXT NOT NULL CHECK (length(commit_sha) = 40),
  PRIMARY KEY (regression, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX regression_by_commit ON regression_commit (commit_sha);

CREATE TABLE regression_change (
  id INTEGER PRIMARY KEY,
  regression INTEGER NOT NULL REFERENCES regression (id),
  state TEXT NOT NULL CHECK (state IN ('suspected', 'confirmed', 'bisecting', 'blamed', 'reported',
    'recovered', 'dismissed', 'inconclusive', 'merged', 'unconfirmed', 'range', 'unattributed', 'historical')),
  at_us INTEGER NOT NULL,
  evidence TEXT NOT NULL CHECK (json_valid(evidence))
) STRICT;
CREATE INDEX change_by_regression ON regression_change (regression);

CREATE TABLE bisection (
  id INTEGER PRIMARY KEY,
  regression INTEGER UNIQUE REFERENCES regression (id),
  series INTEGER NOT NULL REFERENCES series (id),
  state TEXT NOT NULL CHECK (state IN ('open', 'culprit', 'not_reproduced', 'inconclusive', 'range')),
  good INTEGER NOT NULL REFERENCES build (id),
  bad INTEGER NOT NULL REFERENCES build (id),
  posterior TEXT NOT NULL CHECK (posterior = '' OR json_valid(posterior)),
  started_at_us INTEGER NOT NULL,
  finished_at_us INTEGER,
  spent_seconds REAL NOT NULL DEFAULT 0 CHECK (spent_seconds >= 0),
  expected_runs REAL NOT NULL DEFAULT 0 CHECK (expected_runs >= 0),
  runs INTEGER NOT NULL DEFAULT 0 CHECK (runs >= 0),
  sessions INTEGER NOT NULL DEFAULT 0 CHECK (sessions >= 0),
  fix INTEGER REFERENCES fix_search (id) CHECK ((fix IS NULL) <> (regression IS NULL))
) STRICT;
CREATE INDEX bisection_by_state ON bisection (state);
CREATE UNIQUE INDEX bisection_by_fix ON bisection (fix);

CREATE TABLE bisection_commit (
  bisection INTEGER NOT NULL REFERENCES bisection (id),
  position INTEGER NOT NULL,
  commit_sha TEXT NOT NULL CHECK (length(commit_sha) = 40),
  PRIMARY KEY (bisection, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE bisection_job (
  id INTEGER PRIMARY KEY,
  bisection INTEGER NOT NULL REFERENCES bisection (id),
  job INTEGER NOT NULL REFERENCES job (id),
  session INTEGER NOT NULL,
  UNIQUE (bisection, job)
) STRICT;

CREATE TABLE bisection_untestable (
  bisection INTEGER NOT NULL REFERENCES bisection (id),
  position INTEGER NOT NULL,
  reason TEXT NOT NULL,
  -- Until now the sentence alone said why. What the planner found in the way is `no_build_here`; what a runner said
  -- of an environment is `does_not_import`; else the workload failed in every run.
  cause TEXT NOT NULL DEFAULT 'does_not_run'
  CHECK (cause IN ('does_not_compile', 'does_not_import', 'does_not_run', 'no_build_here', 'infrastructure')),
  PRIMARY KEY (bisection, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  regression INTEGER REFERENCES regression (id) CHECK (regression IS NOT NULL OR kind = 'open_issue'),
  kind TEXT NOT NULL CHECK (kind IN ('open_issue', 'comment', 'close_issue')),
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'failed')),
  attempts INTEGER NOT NULL,
  not_before_us INTEGER,
  error TEXT NOT NULL,
  url TEXT NOT NULL,
  created_at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_pending ON outbox (id) WHERE state = 'pending';
CREATE INDEX outbox_by_regression ON outbox (regression);

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at_us INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL
) STRICT;

CREATE TABLE delivery (
  id TEXT PRIMARY KEY,
  at_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE note (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE mark (
  id INTEGER PRIMARY KEY,
  at_us INTEGER NOT NULL,
  actor TEXT NOT NULL,
  after_night INTEGER NOT NULL, -- levels of this night and of earlier ones no longer count; 0: none
  machine INTEGER REFERENCES machine (id),
  workload TEXT NOT NULL, -- glob
  metric TEXT NOT NULL, -- or '*'
  reason TEXT NOT NULL
) STRICT;

CREATE TABLE improvement (
  id INTEGER PRIMARY KEY,
  night INTEGER NOT NULL REFERENCES night (id),
  series INTEGER NOT NULL REFERENCES series (id),
  build INTEGER NOT NULL REFERENCES build (id),
  before REAL NOT NULL,
  after REAL NOT NULL,
  at_us INTEGER NOT NULL,
  UNIQUE (night, series)
) STRICT;
CREATE INDEX improvement_by_series ON improvement (series);
CREATE INDEX improvement_by_time ON improvement (at_us);

CREATE TABLE calibration (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL UNIQUE REFERENCES job (id),
  series INTEGER NOT NULL REFERENCES series (id),
  planted REAL NOT NULL CHECK (planted >= 0), -- share added to an iteration's time; 0: nothing
  verdict TEXT NOT NULL CHECK (verdict IN ('worse', 'better', 'same', 'inconclusive')),
  ratio REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  runs INTEGER NOT NULL,
  at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX calibration_by_series ON calibration (series);

-- What the search said of steps planted in recorded runs: how often it names the right commit.
CREATE TABLE replay (
  id INTEGER PRIMARY KEY,
  night INTEGER NOT NULL REFERENCES night (id),
  series INTEGER NOT NULL REFERENCES series (id),
  planted REAL NOT NULL CHECK (planted >= 0),
  outcome TEXT NOT NULL CHECK (outcome IN ('exact', 'innocent', 'nobody')),
  runs INTEGER NOT NULL CHECK (runs >= 0),
  at_us INTEGER NOT NULL,
  UNIQUE (night, series)
) STRICT;
CREATE INDEX replay_by_series ON replay (series);

CREATE TABLE session_check (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL UNIQUE REFERENCES job (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  usable INTEGER NOT NULL CHECK (usable IN (0, 1)),
  reason TEXT NOT NULL CHECK ((reason = '') = usable),
  control REAL NOT NULL CHECK (control >= 0)
) STRICT;
CREATE INDEX session_check_by_machine ON session_check (machine, id);

CREATE TABLE profile (
  run INTEGER PRIMARY KEY REFERENCES run (id),
  body TEXT NOT NULL
) STRICT;

-- What a confirmation's sessions compare. All series of the workload share them. `round` counts from 1: a
-- confirmation that was cut short starts the next round.
CREATE TABLE confirmation_job (
  job INTEGER PRIMARY KEY REFERENCES job (id),
  workload INTEGER NOT NULL REFERENCES workload (id),
  good INTEGER NOT NULL REFERENCES build (id),
  bad INTEGER NOT NULL REFERENCES build (id),
  round INTEGER NOT NULL CHECK (round >= 1)
) STRICT;

-- Measuring time that a machine class has saved up for calibration, and its cases so far.
CREATE TABLE calibration_budget (
  machine INTEGER PRIMARY KEY REFERENCES machine (id),
  saved_seconds REAL NOT NULL CHECK (saved_seconds >= 0),
  cases INTEGER NOT NULL CHECK (cases >= 0)
) STRICT;

CREATE TABLE replay_queue (
  id INTEGER PRIMARY KEY,
  night INTEGER NOT NULL REFERENCES night (id),
  series INTEGER NOT NULL REFERENCES series (id),
  UNIQUE (night, series)
) STRICT;

-- One look-up a commit and variant. `absent` comes only from a look that saw everything; what could not be seen is
-- `failed` and is looked at again from `retry_at_us` on, or never again if that is NULL. `found`: a wheel is there
-- and was not asked for yet. `fetched`: it is `build`.
CREATE TABLE ci_lookup (
  id INTEGER PRIMARY KEY,
  commit_sha TEXT NOT NULL CHECK (length(commit_sha) = 40),
  variant TEXT NOT NULL,
  native_state TEXT CHECK (length(native_state) = 64),
  state TEXT NOT NULL CHECK (state IN ('wanted', 'found', 'fetched', 'absent', 'failed')),
  fetch INTEGER NOT NULL CHECK (fetch IN (0, 1)),
  urgent INTEGER NOT NULL CHECK (urgent IN (0, 1)),
  reason TEXT NOT NULL,
  looked_at TEXT NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  failures INTEGER NOT NULL CHECK (failures >= 0),
  build INTEGER REFERENCES build (id),
  wanted_at_us INTEGER NOT NULL,
  looked_at_us INTEGER,
  retry_at_us INTEGER,
  UNIQUE (commit_sha, variant)
) STRICT;
CREATE INDEX ci_lookup_by_retry ON ci_lookup (retry_at_us) WHERE retry_at_us IS NOT NULL;
CREATE INDEX ci_lookup_by_native_state ON ci_lookup (native_state, variant) WHERE native_state IS NOT NULL;

-- What was asked of builders. One wheel serves a whole native group, so the group is asked for once. Another commit of
-- it is asked for only where the first one's wheel cannot be imported, which may be its Python's fault.
-- `failures` counts those of the infrastructure. After one, the job is queued again; nobody claims it before
-- `not_before_us`, and the runner `avoided` not before `avoided_until_us`.
CREATE TABLE source_build (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL UNIQUE REFERENCES job (id),
  native_state TEXT NOT NULL CHECK (length(native_state) = 64),
  variant TEXT NOT NULL,
  recipe_sha256 TEXT NOT NULL CHECK (length(recipe_sha256) = 64),
  commit_sha TEXT NOT NULL CHECK (length(commit_sha) = 40),
  state TEXT NOT NULL CHECK (state IN ('waiting', 'built', 'does_not_compile', 'does_not_import')),
  build INTEGER REFERENCES build (id),
  reason TEXT NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  not_before_us INTEGER NOT NULL,
  avoided INTEGER REFERENCES runner (id),
  avoided_until_us INTEGER NOT NULL DEFAULT 0,
  result TEXT NOT NULL CHECK (result = '' OR json_valid(result)),
  CHECK ((state = 'built') = (build IS NOT NULL)),
  UNIQUE (native_state, variant, recipe_sha256, commit_sha)
) STRICT;
CREATE UNIQUE INDEX source_build_of_group ON source_build (native_state, variant, recipe_sha256)
  WHERE state <> 'does_not_import';
CREATE INDEX source_build_by_commit ON source_build (commit_sha, variant);
-- By which recipe a builder made a build.
CREATE INDEX source_build_by_build ON source_build (build);

-- Written once a commit. States by different `rules` cannot be compared.
CREATE TABLE commit_state (
  commit_sha TEXT NOT NULL CHECK (length(commit_sha) = 40),
  rules INTEGER NOT NULL CHECK (rules >= 1),
  native_state TEXT NOT NULL CHECK (length(native_state) = 64),
  library_state TEXT NOT NULL CHECK (length(library_state) = 64),
  PRIMARY KEY (commit_sha, rules)
) STRICT, WITHOUT ROWID;
CREATE INDEX commit_by_native_state ON commit_state (native_state, rules);
CREATE INDEX commit_by_library_state ON commit_state (library_state, rules);

-- Attempts that ended without an answer, by runner: the next one goes to another runner if there is one.
CREATE TABLE lost_attempt (
  job INTEGER NOT NULL REFERENCES job (id),
  runner INTEGER NOT NULL REFERENCES runner (id),
  PRIMARY KEY (job, runner)
) STRICT, WITHOUT ROWID;

-- `text` is a requirements file: each package with its version and its hashes.
CREATE TABLE lock (
  sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
  text TEXT NOT NULL,
  made_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE locked_package (
  lock TEXT NOT NULL REFERENCES lock (sha256),
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  PRIMARY KEY (lock, name)
) STRICT, WITHOUT ROWID;

-- What was worse at ends that have different packages. The ratios are the parts of the change, by the source and by
-- the packages; their product is the whole.
CREATE TABLE attribution (
  regression INTEGER PRIMARY KEY REFERENCES regression (id),
  cause TEXT NOT NULL CHECK (cause IN ('source', 'environment', 'both', 'unknown', 'wheel',
    'source_and_wheel', 'environment_and_wheel', 'all_three')),
  source_ratio REAL NOT NULL,
  source_low REAL NOT NULL,
  source_high REAL NOT NULL,
  environment_ratio REAL,
  environment_low REAL,
  environment_high REAL,
  -- The bad wheel with the good one's packages; NULL: it does not run.
  held INTEGER REFERENCES build (id),
  -- When the search for the package ended; NULL: it has not.
  searched_at_us INTEGER,
  wheel_ratio REAL,
  wheel_low REAL,
  wheel_high REAL
) STRICT;

-- What makes a night the same when it is imported again.
CREATE TABLE imported_night (
  night INTEGER PRIMARY KEY REFERENCES night (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  build INTEGER NOT NULL REFERENCES build (id),
  measured_at_us INTEGER NOT NULL,
  UNIQUE (machine, build, measured_at_us)
) STRICT;

-- judged: its steps were looked for since values were added last.
CREATE TABLE imported_series (
  series INTEGER PRIMARY KEY REFERENCES series (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  judged INTEGER NOT NULL CHECK (judged IN (0, 1))
) STRICT;
CREATE INDEX imported_series_by_machine ON imported_series (machine, judged);
CREATE INDEX imported_series_to_judge ON imported_series (series) WHERE judged = 0;

CREATE TABLE machine_facts (
  id INTEGER PRIMARY KEY,
  machine INTEGER NOT NULL REFERENCES machine (id),
  facts TEXT NOT NULL CHECK (json_valid(facts)),
  first_seen_us INTEGER NOT NULL,
  UNIQUE (machine, facts)
) STRICT;

-- What goes with the iterations of latency. In rows of their own, because a row that shrinks gives no page back.
CREATE TABLE run_times (
  run INTEGER PRIMARY KEY REFERENCES run (id),
  cpu_seconds BLOB NOT NULL,
  wait_seconds BLOB NOT NULL,
  slowdown BLOB NOT NULL
) STRICT;

-- Each search asks one question of one regression; `number` counts them from 0. Its environments are one wheel with
-- the good end's packages, of which some are replaced by the bad end's.
CREATE TABLE package_search (
  id INTEGER PRIMARY KEY,
  regression INTEGER NOT NULL REFERENCES regression (id),
  number INTEGER NOT NULL CHECK (number >= 0),
  question TEXT NOT NULL CHECK (question IN ('packages', 'partner', 'versions')),
  state TEXT NOT NULL CHECK (state IN ('listing', 'open', 'found', 'adjacent', 'unclear')),
  series INTEGER NOT NULL REFERENCES series (id),
  wheel INTEGER NOT NULL REFERENCES build (id),
  -- A package that every environment of the search has from the bad end; NULL: none.
  held_package TEXT,
  held_version TEXT,
  posterior TEXT NOT NULL CHECK (json_valid(posterior)),
  rule TEXT NOT NULL,
  runs INTEGER NOT NULL CHECK (runs >= 0),
  sessions INTEGER NOT NULL CHECK (sessions >= 0),
  spent_seconds REAL NOT NULL CHECK (spent_seconds >= 0),
  expected_runs REAL NOT NULL CHECK (expected_runs >= 0),
  -- How often the indexes did not answer, and when they are asked again.
  failures INTEGER NOT NULL CHECK (failures >= 0),
  not_before_us INTEGER,
  started_at_us INTEGER NOT NULL,
  finished_at_us INTEGER,
  UNIQUE (regression, number)
) STRICT;
CREATE INDEX package_search_by_state ON package_search (state);

-- One environment: that of the position before with this package in this version. Position 0 is the good end.
CREATE TABLE package_mix (
  search INTEGER NOT NULL REFERENCES package_search (id),
  position INTEGER NOT NULL CHECK (position >= 0),
  package TEXT NOT NULL,
  version TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('unasked', 'wanted', 'locked', 'inconsistent', 'does_not_import',
                                       'does_not_run', 'unavailable')),
  lock TEXT REFERENCES lock (sha256),
  reason TEXT NOT NULL,
  PRIMARY KEY (search, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX package_mix_wanted ON package_mix (search) WHERE state = 'wanted';

-- Adjacent steps first..last that the search named.
CREATE TABLE package_step (
  search INTEGER NOT NULL REFERENCES package_search (id),
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  probability REAL NOT NULL,
  ratio REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  PRIMARY KEY (search, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE package_search_job (
  id INTEGER PRIMARY KEY,
  search INTEGER NOT NULL REFERENCES package_search (id),
  job INTEGER NOT NULL REFERENCES job (id),
  session INTEGER NOT NULL,
  UNIQUE (search, job)
) STRICT;

-- Commits between the ends that changed a file which pins versions.
CREATE TABLE pin_move (
  regression INTEGER NOT NULL REFERENCES regression (id),
  position INTEGER NOT NULL,
  commit_sha TEXT NOT NULL CHECK (length(commit_sha) = 40),
  path TEXT NOT NULL,
  PRIMARY KEY (regression, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE enrolment (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  -- The one name that it may be used for. Empty: any that no runner's own token is bound to.
  runner TEXT NOT NULL,
  actor TEXT NOT NULL,
  made_at_us INTEGER NOT NULL,
  ends_at_us INTEGER NOT NULL,
  -- NULL: not yet.
  used_at_us INTEGER,
  revoked_at_us INTEGER,
  -- The machine class that an enrolled runner's tokens are bound to. NULL: that with which its runner registers first.
  machine INTEGER REFERENCES machine (id)
) STRICT;

CREATE TABLE runner_token (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  -- The name that it is bound to; the runner registers after it has its token.
  runner TEXT NOT NULL,
  enrolment INTEGER NOT NULL REFERENCES enrolment (id),
  made_at_us INTEGER NOT NULL,
  -- First used; NULL: not yet.
  used_at_us INTEGER,
  -- Set when its successor is used for the first time. NULL: no end is known.
  ends_at_us INTEGER,
  revoked_at_us INTEGER
) STRICT;
CREATE INDEX runner_token_by_runner ON runner_token (runner) WHERE revoked_at_us IS NULL;
CREATE INDEX runner_token_by_enrolment ON runner_token (enrolment);

-- What stage one judged of one metric on one machine class, and what the newest night could have seen.
CREATE TABLE judged (
  machine INTEGER NOT NULL REFERENCES machine (id),
  metric TEXT NOT NULL,
  since_us INTEGER NOT NULL, -- of the first night that counts
  nights INTEGER NOT NULL CHECK (nights >= 1),
  series_nights INTEGER NOT NULL CHECK (series_nights >= 0),
  suspicions INTEGER NOT NULL CHECK (suspicions >= 0),
  dismissed INTEGER NOT NULL CHECK (dismissed >= 0), -- suspicions that stage two did not confirm
  noise_series INTEGER NOT NULL CHECK (noise_series >= 0), -- series that the next three are of
  smallest REAL,
  smallest_low REAL,
  smallest_high REAL,
  PRIMARY KEY (machine, metric),
  CHECK ((noise_series = 0) = (smallest IS NULL))
) STRICT, WITHOUT ROWID;

-- What a person said of a finding.
CREATE TABLE ruling (
  regression INTEGER PRIMARY KEY REFERENCES regression (id),
  kind TEXT NOT NULL CHECK (kind IN ('no_regression', 'meant', 'cause')),
  confirmed INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
  commit_sha TEXT CHECK (length(commit_sha) = 40),
  at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX ruling_by_kind ON ruling (kind, confirmed);

-- What a replayed search said, and whether it was right: the steps that it named, and before that its likeliest
-- commit, once for each bin of probability.
CREATE TABLE replay_prediction (
  replay INTEGER NOT NULL REFERENCES replay (id),
  number INTEGER NOT NULL CHECK (number >= 0),
  named INTEGER NOT NULL CHECK (named IN (0, 1)),
  probability REAL NOT NULL CHECK (probability BETWEEN 0 AND 1),
  was_right INTEGER NOT NULL CHECK (was_right IN (0, 1)),
  PRIMARY KEY (replay, number)
) STRICT, WITHOUT ROWID;

-- `gpu`: models, each once; empty: it has none. `first_seen`: the night in which the class showed it, only of `seen`.
-- `ratio`, `low` and `high`: of its first series there if seen; of not_seen, what the night's screening said.
CREATE TABLE regression_class (
  regression INTEGER NOT NULL REFERENCES regression (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  gpu TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('seen', 'not_seen', 'not_looked_for')),
  first_seen INTEGER REFERENCES night (id),
  ratio REAL,
  low REAL,
  high REAL,
  PRIMARY KEY (regression, machine),
  CHECK ((state = 'seen') = (first_seen IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX regression_class_by_machine ON regression_class (machine, state);

-- `at_us`: when the night began, which orders the nights of a suite. An imported one may be stored after a later one.
CREATE TABLE suite_summary (
  id INTEGER PRIMARY KEY,
  night INTEGER NOT NULL REFERENCES night (id),
  at_us INTEGER NOT NULL,
  machine INTEGER NOT NULL REFERENCES machine (id),
  variant TEXT NOT NULL,
  suite TEXT NOT NULL,
  task TEXT NOT NULL,
  device TEXT NOT NULL,
  precision TEXT NOT NULL,
  backend TEXT NOT NULL,
  models INTEGER NOT NULL CHECK (models >= 1),
  passed INTEGER NOT NULL CHECK (passed BETWEEN 0 AND models),
  UNIQUE (night, machine, variant, suite, task, device, precision, backend)
) STRICT;
CREATE INDEX suite_summary_by_time
  ON suite_summary (machine, variant, suite, task, device, precision, backend, at_us, night);

-- `members_sha256`: of the names and versions of its members. `came` and `went`: members that the night before lacked,
-- and those that only it had. `ratio`, `low` and `high`: of the `compared` members that earlier nights had, against
-- their own level; null without any. `allowed`: so much, as a share, nights differ anyway; null: too few are known.
CREATE TABLE suite_mean (
  summary INTEGER NOT NULL REFERENCES suite_summary (id),
  measure TEXT NOT NULL CHECK (measure IN ('speedup', 'compile_time', 'cpu_compression', 'gpu_compression')),
  value REAL NOT NULL,
  members INTEGER NOT NULL CHECK (members >= 1),
  members_sha256 TEXT NOT NULL CHECK (length(members_sha256) = 64),
  level REAL NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('first_night', 'same', 'suspect_worse', 'suspect_better', 'worse',
    'better', 'members_changed')),
  ratio REAL,
  low REAL,
  high REAL,
  compared INTEGER NOT NULL CHECK ((compared = 0) = (ratio IS NULL)),
  allowed REAL,
  came INTEGER NOT NULL,
  went INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (summary, measure)
) STRICT, WITHOUT ROWID;

-- Every model that the night asked of the suite, with what its means are made of; null: it has no such value.
CREATE TABLE suite_member (
  id INTEGER PRIMARY KEY,
  summary INTEGER NOT NULL REFERENCES suite_summary (id),
  workload INTEGER NOT NULL REFERENCES workload (id),
  accuracy TEXT,
  passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
  latency REAL,
  speedup REAL,
  compile_time REAL,
  cpu_compression REAL,
  gpu_compression REAL,
  UNIQUE (summary, workload)
) STRICT;

-- `outcome` to `finished_at_us`: what the search had come to by then.
CREATE TABLE search_widening (
  id INTEGER PRIMARY KEY,
  bisection INTEGER NOT NULL REFERENCES bisection (id),
  at_us INTEGER NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('not_reproduced', 'inconclusive', 'range')),
  good INTEGER NOT NULL REFERENCES build (id),
  posterior TEXT NOT NULL CHECK (posterior = '' OR json_valid(posterior)),
  runs INTEGER NOT NULL CHECK (runs >= 0),
  sessions INTEGER NOT NULL CHECK (sessions >= 0),
  spent_seconds REAL NOT NULL CHECK (spent_seconds >= 0),
  finished_at_us INTEGER NOT NULL,
  max_runs INTEGER NOT NULL CHECK (max_runs >= 0),
  max_minutes INTEGER NOT NULL CHECK (max_minutes >= 0),
  threshold REAL CHECK (threshold > 0)  -- NULL: that of the configuration
) STRICT;
CREATE INDEX widening_by_bisection ON search_widening (bisection);

-- One row for each period that is over, so that none is told twice. `message` is NULL where nothing was posted, since
-- nothing had happened.
CREATE TABLE digest (
  id INTEGER PRIMARY KEY,
  from_us INTEGER NOT NULL,
  until_us INTEGER NOT NULL UNIQUE CHECK (until_us > from_us),
  message INTEGER UNIQUE REFERENCES outbox (id),
  decided_at_us INTEGER NOT NULL
) STRICT;

-- Builds of which the tracker was told that they made something better.
CREATE TABLE fix_report (
  build INTEGER PRIMARY KEY REFERENCES build (id),
  message INTEGER NOT NULL UNIQUE REFERENCES outbox (id)
) STRICT;

-- A finding that joined another one whose issue is filed, until that issue hears of it. One comment tells all findings
-- of a night.
CREATE TABLE untold_finding (
  regression INTEGER PRIMARY KEY REFERENCES regression (id),
  joined_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE fix_search (
  id INTEGER PRIMARY KEY,
  night INTEGER NOT NULL REFERENCES night (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  before INTEGER REFERENCES build (id),
  build INTEGER NOT NULL REFERENCES build (id),
  series INTEGER NOT NULL REFERENCES series (id),
  opened_at_us INTEGER NOT NULL,
  not_searched TEXT CHECK (not_searched IN ('packages_differ', 'no_range', 'no_series')),
  evidence TEXT NOT NULL CHECK (evidence = '' OR json_valid(evidence)),
  UNIQUE (build, machine),
  CHECK (before IS NOT NULL OR not_searched IS NOT NULL)
) STRICT;

-- What it named: a commit with its untestable neighbours, or a range of which one commit did it.
CREATE TABLE fix_cause (
  id INTEGER PRIMARY KEY,
  fix_search INTEGER NOT NULL REFERENCES fix_search (id),
  is_range INTEGER NOT NULL CHECK (is_range IN (0, 1)),
  probability REAL NOT NULL,
  ratio REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL
) STRICT;
CREATE INDEX fix_cause_by_search ON fix_cause (fix_search);

CREATE TABLE fix_cause_commit (
  fix_cause INTEGER NOT NULL REFERENCES fix_cause (id),
  position INTEGER NOT NULL,
  commit_sha TEXT NOT NULL CHECK (length(commit_sha) = 40),
  PRIMARY KEY (fix_cause, position)
) STRICT, WITHOUT ROWID;

-- `trouble`: why it could not be read; '': it was. `more_files` counts those that are not kept.
CREATE TABLE provenance (
  wheel TEXT PRIMARY KEY CHECK (length(wheel) = 64),
  generator TEXT NOT NULL,
  flags TEXT NOT NULL,
  more_files INTEGER NOT NULL CHECK (more_files >= 0),
  trouble TEXT NOT NULL
) STRICT;

CREATE TABLE provenance_line (
  wheel TEXT NOT NULL REFERENCES provenance (wheel),
  what TEXT NOT NULL CHECK (what IN ('tag', 'compiler')),
  text TEXT NOT NULL,
  PRIMARY KEY (wheel, what, text)
) STRICT, WITHOUT ROWID;

CREATE TABLE provenance_file (
  wheel TEXT NOT NULL REFERENCES provenance (wheel),
  name TEXT NOT NULL,
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  digest TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('own', 'bundled', 'foreign')),
  PRIMARY KEY (wheel, name)
) STRICT, WITHOUT ROWID;
