-- Who started what, which webhook deliveries were used, small facts that outlive a restart; and the
-- runs of one workload, which REST lists, by an index.

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

CREATE INDEX run_by_workload ON run (workload);
