-- What a search has spent and will probably need. Runs spent are counted from the log.

ALTER TABLE bisection ADD COLUMN spent_seconds REAL NOT NULL DEFAULT 0 CHECK (spent_seconds >= 0);
ALTER TABLE bisection ADD COLUMN expected_runs REAL NOT NULL DEFAULT 0 CHECK (expected_runs >= 0);

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
