-- How a wheel was made, as far as the wheel itself tells. It depends on the wheel's content alone, so a wheel that two
-- builds share has it once.

-- `trouble`: why it could not be read; '': it was. `more_files` counts those that are not kept.
CREATE TABLE provenance (
  wheel TEXT PRIMARY KEY CHECK (length(wheel) = 64),
  generator TEXT NOT NULL,
  flags TEXT NOT NULL,
  more_files INTEGER NOT NULL CHECK (more_files >= 0),
  trouble TEXT NOT NULL
) STRICT;
CREATE TABLE provenance_line (
  wheel TEXT NOT NULL REFERENCES provenance (wheel),
  what TEXT NOT NULL CHECK (what IN ('tag', 'compiler')),
  text TEXT NOT NULL,
  PRIMARY KEY (wheel, what, text)
) STRICT, WITHOUT ROWID;
CREATE TABLE provenance_file (
  wheel TEXT NOT NULL REFERENCES provenance (wheel),
  name TEXT NOT NULL,
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  digest TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('own', 'bundled', 'foreign')),
  PRIMARY KEY (wheel, name)
) STRICT, WITHOUT ROWID;
