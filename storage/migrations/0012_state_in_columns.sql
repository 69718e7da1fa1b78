-- What decisions read out of job keys, evidence and notes gets columns. Those texts are read here for the
-- last time.

-- The job whose void session this one measures again.
ALTER TABLE job ADD COLUMN repeats INTEGER REFERENCES job (id);
UPDATE job SET repeats = (SELECT asked.id FROM job AS asked
                          WHERE asked.key = substr(job.key, 1, instr(job.key, '/again:') - 1))
  WHERE instr(key, '/again:') > 0;
CREATE INDEX job_by_repeated ON job (repeats) WHERE repeats IS NOT NULL;

-- What a confirmation's sessions compare. All series of the workload share them. `round` counts from 1: a
-- confirmation that was cut short starts the next round.
CREATE TABLE confirmation_job (
  job INTEGER PRIMARY KEY REFERENCES job (id),
  workload INTEGER NOT NULL REFERENCES workload (id),
  good INTEGER NOT NULL REFERENCES build (id),
  bad INTEGER NOT NULL REFERENCES build (id),
  round INTEGER NOT NULL CHECK (round >= 1)
) STRICT;
INSERT INTO confirmation_job (job, workload, good, bad, round)
SELECT job.id, workload.id, json_extract(job.spec, '$.environments[0].build'),
  json_extract(job.spec, '$.environments[1].build'),
  iif(instr(job.key, '/round:') = 0, 1, CAST(substr(job.key, instr(job.key, '/round:') + 7) AS INTEGER))
FROM job JOIN workload ON workload.name = json_extract(job.spec, '$.workloads[0].name')
  AND workload.version = json_extract(job.spec, '$.workloads[0].version')
WHERE job.kind = 'confirm' AND job.repeats IS NULL AND instr(job.key, '/confirm:') > 0;

ALTER TABLE regression ADD COLUMN found_by TEXT NOT NULL DEFAULT 'screening'
  CHECK (found_by IN ('screening', 'creep', 'search'));
UPDATE regression SET found_by = 'search' WHERE part > 0;
UPDATE regression SET found_by = 'creep' WHERE part = 0 AND 'creep' =
  (SELECT json_extract(said.evidence, '$.stage') FROM regression_change AS said
   WHERE said.regression = regression.id ORDER BY said.id LIMIT 1);

-- Measuring time that a machine class has saved up for calibration, and its cases so far.
CREATE TABLE calibration_budget (
  machine INTEGER PRIMARY KEY REFERENCES machine (id),
  saved_seconds REAL NOT NULL CHECK (saved_seconds >= 0),
  cases INTEGER NOT NULL CHECK (cases >= 0)
) STRICT;
INSERT INTO calibration_budget (machine, saved_seconds, cases)
SELECT machine.id, json_extract(note.value, '$.saved'), json_extract(note.value, '$.number')
FROM machine JOIN note ON note.name = 'calibration/' || machine.id;
DELETE FROM note WHERE name LIKE 'calibration/%';

-- Series of the newest night whose search is still to be replayed, in order.
ALTER TABLE night ADD COLUMN replays_queued INTEGER NOT NULL DEFAULT 0 CHECK (replays_queued IN (0, 1));
CREATE TABLE replay_queue (
  id INTEGER PRIMARY KEY,
  night INTEGER NOT NULL REFERENCES night (id),
  series INTEGER NOT NULL REFERENCES series (id),
  UNIQUE (night, series)
) STRICT;
UPDATE night SET replays_queued = 1
  WHERE id = (SELECT json_extract(value, '$.night') FROM note WHERE name = 'replays');
INSERT INTO replay_queue (night, series)
SELECT night.id, series.id
FROM note JOIN night ON night.id = json_extract(note.value, '$.night')
JOIN json_each(note.value, '$.left') AS entry JOIN series ON series.id = entry.value
WHERE note.name = 'replays' ORDER BY entry.key;
DELETE FROM note WHERE name = 'replays';
