-- Which package of a changed environment did it, and which of its versions.

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
  -- Of what is asked of the indexes: they did not answer so often, and are asked again then.
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

-- When the search for the package ended; NULL: it has not.
ALTER TABLE attribution ADD COLUMN searched_at_us INTEGER;
