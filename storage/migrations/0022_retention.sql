-- When the raw samples of a session's runs were dropped: those that no verdict or level rests on.

ALTER TABLE session ADD COLUMN samples_dropped_us INTEGER;
CREATE INDEX session_with_samples ON session (stored_at_us) WHERE samples_dropped_us IS NULL;
