-- How far the machine moved during a session of screening, by each of its controls. See ControlReading.
CREATE TABLE control_reading (
  job INTEGER NOT NULL REFERENCES job (id),
  gauge TEXT NOT NULL CHECK (gauge IN ('cpu', 'gpu_compute', 'gpu_bandwidth')),
  within REAL NOT NULL CHECK (within >= 0),
  moved REAL,
  unrest REAL CHECK (unrest >= 0),
  CHECK ((moved IS NULL) = (unrest IS NULL)),
  PRIMARY KEY (job, gauge)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_screened ON job (machine, facts, variant, night) WHERE kind = 'screen';
