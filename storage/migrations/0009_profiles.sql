-- Where an iteration's time went, at both sides of a boundary. The list of job kinds grows as in migration 5.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''calibrate''', '''calibrate'', ''profile''')
  WHERE type = 'table' AND name = 'job';
PRAGMA writable_schema = RESET;

CREATE TABLE profile (
  run INTEGER PRIMARY KEY REFERENCES run (id),
  body TEXT NOT NULL
) STRICT;
