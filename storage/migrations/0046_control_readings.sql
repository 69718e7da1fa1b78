-- How far the machine moved during a session of screening, by each of its controls. See ControlReading.
CREATE TABLE control_reading (
  job INTEGER NOT NULL REFERENCES job (id),
  gauge TEXT NOT NULL CHECK (gauge IN ('cpu', 'gpu_compute', 'gpu_bandwidth')),
  within REAL NOT NULL CHECK (within >= 0),
  moved REAL NOT NULL,
  unrest REAL NOT NULL CHECK (unrest >= 0),
  PRIMARY KEY (job, gauge)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_screened ON job (machine, facts, night) WHERE kind = 'screen';
