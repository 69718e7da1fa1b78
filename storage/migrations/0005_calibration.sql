-- What Nightjar finds where it knows the truth: a build against itself, and a slow-down that it planted.
-- The list of job kinds grows, which changes nothing that is stored: so the table's text is changed, as
-- SQLite's documentation of ALTER TABLE describes.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema
  SET sql = replace(sql, '''screen'', ''confirm'', ''bisect''', '''screen'', ''confirm'', ''bisect'', ''calibrate''')
  WHERE type = 'table' AND name = 'job';
PRAGMA writable_schema = RESET;

CREATE TABLE calibration (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL UNIQUE REFERENCES job (id),
  series INTEGER NOT NULL REFERENCES series (id),
  planted REAL NOT NULL CHECK (planted >= 0),  -- share added to an iteration's time; 0: nothing
  verdict TEXT NOT NULL CHECK (verdict IN ('worse', 'better', 'same', 'inconclusive')),
  ratio REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  runs INTEGER NOT NULL,
  at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX calibration_by_series ON calibration (series);
CREATE INDEX job_to_calibrate ON job (id) WHERE kind = 'calibrate';
