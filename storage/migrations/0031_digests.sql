-- Messages to the issue tracker that belong to no regression: what a period came to, and what a fix made better.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'regression INTEGER NOT NULL REFERENCES regression (id)',
    'regression INTEGER REFERENCES regression (id) CHECK (regression IS NOT NULL OR kind = ''open_issue'')')
  WHERE type = 'table' AND name = 'outbox';
PRAGMA writable_schema = RESET;

-- One row for each period that is over, so that none is told twice. `message` is NULL where nothing was posted, since
-- nothing had happened.
CREATE TABLE digest (
  id INTEGER PRIMARY KEY,
  from_us INTEGER NOT NULL,
  until_us INTEGER NOT NULL UNIQUE CHECK (until_us > from_us),
  message INTEGER UNIQUE REFERENCES outbox (id),
  decided_at_us INTEGER NOT NULL
) STRICT;

-- Builds of which the tracker was told that they made something better.
CREATE TABLE fix_report (
  build INTEGER PRIMARY KEY REFERENCES build (id),
  message INTEGER NOT NULL UNIQUE REFERENCES outbox (id)
) STRICT;
CREATE INDEX improvement_by_time ON improvement (at_us);
