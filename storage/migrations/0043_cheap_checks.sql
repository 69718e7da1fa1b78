-- For each row that is written, SQLite makes a temporary table of a list of more than two words, and drops it. These
-- two lists took half of the time of storing a session. What nearly every run has is asked for first.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'CHECK (status IN (', 'CHECK (status = ''measured'' OR status IN ('),
    'CHECK (accuracy IN (', 'CHECK (accuracy IS NULL OR accuracy IN (')
  WHERE type = 'table' AND name = 'run';
PRAGMA writable_schema = RESET;
