-- Shifts of level that a person explains, from which on a series begins anew; and improvements, which
-- are recorded and never filed.

CREATE TABLE mark (
  id INTEGER PRIMARY KEY,
  at_us INTEGER NOT NULL,
  actor TEXT NOT NULL,
  after_night INTEGER NOT NULL,  -- levels of this night and of earlier ones no longer count; 0: none
  machine INTEGER REFERENCES machine (id),
  workload TEXT NOT NULL,        -- glob
  metric TEXT NOT NULL,          -- or '*'
  reason TEXT NOT NULL
) STRICT;

CREATE TABLE improvement (
  id INTEGER PRIMARY KEY,
  night INTEGER NOT NULL REFERENCES night (id),
  series INTEGER NOT NULL REFERENCES series (id),
  build INTEGER NOT NULL REFERENCES build (id),
  before REAL NOT NULL,
  after REAL NOT NULL,
  at_us INTEGER NOT NULL,
  UNIQUE (night, series)
) STRICT;
