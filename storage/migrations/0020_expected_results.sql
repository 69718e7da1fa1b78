-- What the last build that passed gave, beside what a run gave.

ALTER TABLE run ADD COLUMN expected_checksum REAL;
ALTER TABLE run ADD COLUMN tolerance REAL NOT NULL DEFAULT 0;
