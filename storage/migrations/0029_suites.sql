-- What suites came to, night by night, and whether their means moved.

-- 1: the night's suites are summed up, and it got no values since.
ALTER TABLE night ADD COLUMN summed_up INTEGER NOT NULL DEFAULT 0 CHECK (summed_up IN (0, 1));
CREATE INDEX night_to_sum_up ON night (started_at_us, id)
  WHERE state = 'done' AND summed_up = 0 AND build IS NOT NULL;

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
