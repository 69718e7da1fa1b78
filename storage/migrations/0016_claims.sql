-- Who may answer for a job, what keeps one from being claimed, and which runners fail again and again.

-- Drawn at each claim and told to the claimer alone. Job ids and attempts start again in an empty or a restored
-- database; a nonce never comes twice. Empty: claimed before this migration.
ALTER TABLE job ADD COLUMN nonce TEXT NOT NULL DEFAULT '';
-- Times that a runner gave it back because something on its side was in the way.
ALTER TABLE job ADD COLUMN put_off INTEGER NOT NULL DEFAULT 0 CHECK (put_off >= 0);
-- Since when no live runner can claim it; NULL: one can.
ALTER TABLE job ADD COLUMN unclaimable_since_us INTEGER;

-- Attempts that ended without an answer, by runner: the next one goes to another runner if there is one.
CREATE TABLE lost_attempt (
  job INTEGER NOT NULL REFERENCES job (id),
  runner INTEGER NOT NULL REFERENCES runner (id),
  PRIMARY KEY (job, runner)
) STRICT, WITHOUT ROWID;

-- Which host a runner's name stands for. Empty: registered before this migration.
ALTER TABLE runner ADD COLUMN instance TEXT NOT NULL DEFAULT '';
-- Lost attempts in a row; from the third on it gets no job for a while, which doubles. `trouble` says why.
ALTER TABLE runner ADD COLUMN failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0);
ALTER TABLE runner ADD COLUMN quarantined_until_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runner ADD COLUMN trouble TEXT NOT NULL DEFAULT '';
