-- What is measured and what was decided. Times are microseconds since 1970 (`_us`), ids are 64 bits,
-- enumerators are spelled as in C++ (storage/model).

CREATE TABLE build (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('nightly', 'ci', 'overlay', 'source')),
  version TEXT NOT NULL,
  variant TEXT NOT NULL,
  date TEXT NOT NULL,
  url TEXT NOT NULL,
  commit_sha TEXT CHECK (length(commit_sha) = 40),
  nightly_commit TEXT CHECK (length(nightly_commit) = 40),
  sha256 TEXT CHECK (length(sha256) = 64),
  base INTEGER REFERENCES build (id),
  state TEXT NOT NULL CHECK (state IN ('found', 'proved', 'unproved', 'unusable')),
  reason TEXT NOT NULL,
  found_at_us INTEGER NOT NULL,
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
  facts TEXT NOT NULL CHECK (json_valid(facts))
) STRICT;

CREATE TABLE runner (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  machine INTEGER NOT NULL REFERENCES machine (id),
  labels TEXT NOT NULL CHECK (json_valid(labels)),
  workloads TEXT NOT NULL CHECK (json_valid(workloads)),
  version TEXT NOT NULL,
  seen_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE night (
  id INTEGER PRIMARY KEY,
  trigger TEXT NOT NULL CHECK (trigger IN ('schedule', 'webhook', 'api', 'build')),
  state TEXT NOT NULL CHECK (state IN ('waiting', 'measuring', 'judging', 'done')),
  build INTEGER REFERENCES build (id),
  reason TEXT NOT NULL,
  started_at_us INTEGER NOT NULL,
  finished_at_us INTEGER
) STRICT;
CREATE INDEX night_by_build ON night (build);
CREATE INDEX night_by_state ON night (state);

-- `attempt` counts claims; `lost` those whose lease ran out.
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  night INTEGER NOT NULL REFERENCES night (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  kind TEXT NOT NULL CHECK (kind IN ('screen', 'confirm', 'bisect')),
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
  CHECK ((state = 'leased') = (lease_until_us IS NOT NULL))
) STRICT;
CREATE INDEX job_to_claim ON job (machine, priority DESC, id) WHERE state = 'queued';
CREATE INDEX job_by_lease ON job (lease_until_us) WHERE state = 'leased';
CREATE INDEX job_by_state ON job (state);
CREATE INDEX job_by_night ON job (night, kind);

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
  frame TEXT NOT NULL CHECK (json_valid(frame))
) STRICT;

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
  cpu_seconds BLOB NOT NULL,
  wait_seconds BLOB NOT NULL,
  UNIQUE (job, position)
) STRICT;
CREATE INDEX run_by_build ON run (build);

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
    'recovered', 'dismissed', 'inconclusive', 'merged')),
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
  UNIQUE (night, lead, bad, part)
) STRICT;
CREATE INDEX regression_by_state ON regression (state);
CREATE INDEX regression_by_fingerprint ON regression (fingerprint) WHERE fingerprint <> '';

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
    'recovered', 'dismissed', 'inconclusive', 'merged')),
  at_us INTEGER NOT NULL,
  evidence TEXT NOT NULL CHECK (json_valid(evidence))
) STRICT;
CREATE INDEX change_by_regression ON regression_change (regression);

CREATE TABLE bisection (
  id INTEGER PRIMARY KEY,
  regression INTEGER NOT NULL UNIQUE REFERENCES regression (id),
  series INTEGER NOT NULL REFERENCES series (id),
  state TEXT NOT NULL CHECK (state IN ('open', 'culprit', 'not_reproduced', 'inconclusive')),
  good INTEGER NOT NULL REFERENCES build (id),
  bad INTEGER NOT NULL REFERENCES build (id),
  posterior TEXT NOT NULL CHECK (posterior = '' OR json_valid(posterior)),
  started_at_us INTEGER NOT NULL,
  finished_at_us INTEGER
) STRICT;
CREATE INDEX bisection_by_state ON bisection (state);

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
  PRIMARY KEY (bisection, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  regression INTEGER NOT NULL REFERENCES regression (id),
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
