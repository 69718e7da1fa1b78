-- The search for the commit that made a build better: a bisection that belongs to no regression and blames nobody.

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

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'regression INTEGER NOT NULL UNIQUE REFERENCES regression (id)',
    'regression INTEGER UNIQUE REFERENCES regression (id)')
  WHERE type = 'table' AND name = 'bisection';
PRAGMA writable_schema = RESET;
ALTER TABLE bisection ADD COLUMN fix INTEGER REFERENCES fix_search (id) CHECK ((fix IS NULL) <> (regression IS NULL));
CREATE UNIQUE INDEX bisection_by_fix ON bisection (fix);
