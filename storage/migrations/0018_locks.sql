-- The packages that a build is installed with, and whether a change is theirs or the source's.

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
-- NULL: it is installed with the packages of the runner's own Python.
ALTER TABLE build ADD COLUMN lock TEXT REFERENCES lock (sha256);

-- crossed: the wheel of `base` with the packages of another build.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''overlay'', ''source''', '''overlay'', ''source'', ''crossed''')
  WHERE type = 'table' AND name = 'build';
PRAGMA writable_schema = RESET;

-- Of a regression whose ends have different packages. The ratios are the parts of the change: of the source and of
-- the packages; their product is the whole.
CREATE TABLE attribution (
  regression INTEGER PRIMARY KEY REFERENCES regression (id),
  cause TEXT NOT NULL CHECK (cause IN ('source', 'environment', 'both', 'unknown')),
  source_ratio REAL NOT NULL,
  source_low REAL NOT NULL,
  source_high REAL NOT NULL,
  environment_ratio REAL NOT NULL,
  environment_low REAL NOT NULL,
  environment_high REAL NOT NULL,
  -- The bad wheel with the good one's packages; NULL: it does not run.
  held INTEGER REFERENCES build (id)
) STRICT;
