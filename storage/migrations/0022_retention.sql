-- When the raw samples of a session's runs were dropped: those that no verdict or level rests on.

ALTER TABLE session ADD COLUMN samples_dropped_us INTEGER;
CREATE INDEX session_with_samples ON session (stored_at_us) WHERE samples_dropped_us IS NULL;

-- What goes with the iterations of latency. In rows of their own, because a row that shrinks gives no page back.
CREATE TABLE run_times (
  run INTEGER PRIMARY KEY REFERENCES run (id),
  cpu_seconds BLOB NOT NULL,
  wait_seconds BLOB NOT NULL,
  slowdown BLOB NOT NULL
) STRICT;
INSERT INTO run_times SELECT id, cpu_seconds, wait_seconds, slowdown FROM run
  WHERE length(cpu_seconds) + length(wait_seconds) + length(slowdown) > 0;
ALTER TABLE run DROP COLUMN cpu_seconds;
ALTER TABLE run DROP COLUMN wait_seconds;
ALTER TABLE run DROP COLUMN slowdown;
