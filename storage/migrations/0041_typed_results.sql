-- What a search believes and what it named, a row each, in place of JSON, and why a regression changed its state.
ALTER TABLE regression_change ADD COLUMN rule TEXT NOT NULL DEFAULT '';
UPDATE regression_change SET rule = coalesce(evidence ->> '$.rule', evidence ->> '$.reason', evidence ->> '$.title', '');

-- NULL: it is open, or was given up.
ALTER TABLE bisection ADD COLUMN outcome TEXT CHECK (outcome IN ('culprit', 'several_small', 'below_threshold',
  'not_reproduced', 'inconclusive', 'wheel'));

-- The probability that one of the positions first..last is a real step.
CREATE TABLE bisection_cell (
  bisection INTEGER NOT NULL REFERENCES bisection (id),
  first INTEGER NOT NULL,
  last INTEGER NOT NULL CHECK (last >= first),
  probability REAL NOT NULL
) STRICT;
CREATE INDEX cell_by_bisection ON bisection_cell (bisection);

-- Adjacent positions first..last that the search named, since it could not tell them apart.
CREATE TABLE bisection_step (
  bisection INTEGER NOT NULL REFERENCES bisection (id),
  first INTEGER NOT NULL,
  last INTEGER NOT NULL CHECK (last >= first),
  probability REAL NOT NULL,
  ratio REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  -- 0: the wheels of its two sides may have done it.
  isolated INTEGER NOT NULL CHECK (isolated IN (0, 1))
) STRICT;
CREATE INDEX step_by_bisection ON bisection_step (bisection);

INSERT INTO bisection_cell (bisection, first, last, probability)
SELECT bisection.id, low.position, high.position, belief.value ->> '$.probability'
FROM bisection, json_each(iif(bisection.posterior = '', '[]', bisection.posterior)) AS belief
JOIN bisection_commit AS low ON low.bisection = bisection.id AND low.commit_sha = belief.value ->> '$.commits[0]'
JOIN bisection_commit AS high ON high.bisection = bisection.id
  AND high.commit_sha = belief.value ->> '$.commits[#-1]';

-- The evidence of what a search ended with stands at its regression or its fix.
CREATE TEMP TABLE ended AS
SELECT bisection.id AS bisection, coalesce(nullif(fix_search.evidence, ''), (
  SELECT change.evidence FROM regression_change AS change
  WHERE change.regression = bisection.regression AND change.evidence ->> '$.stage' = 'bisection'
  ORDER BY change.id DESC LIMIT 1)) AS evidence
FROM bisection LEFT JOIN fix_search ON fix_search.id = bisection.fix
WHERE bisection.state <> 'open';

UPDATE bisection SET outcome = (
  SELECT iif(ended.evidence ->> '$.outcome' = 'range', 'culprit', ended.evidence ->> '$.outcome')
  FROM temp.ended AS ended WHERE ended.bisection = bisection.id);

INSERT INTO bisection_step (bisection, first, last, probability, ratio, low, high, isolated)
SELECT ended.bisection, low.position, high.position, step.value ->> '$.probability', step.value ->> '$.ratio',
  step.value ->> '$.low', step.value ->> '$.high', coalesce(step.value ->> '$.isolated', 1)
FROM temp.ended AS ended, json_each(ended.evidence, '$.culprits') AS step
JOIN bisection_commit AS low ON low.bisection = ended.bisection AND low.commit_sha = step.value ->> '$.commits[0]'
JOIN bisection_commit AS high ON high.bisection = ended.bisection AND high.commit_sha = step.value ->> '$.commits[#-1]';

DROP TABLE temp.ended;
ALTER TABLE bisection DROP COLUMN posterior;

-- Searches among packages keep theirs alike.
CREATE TABLE package_search_step (
  package_search INTEGER NOT NULL REFERENCES package_search (id),
  first INTEGER NOT NULL,
  last INTEGER NOT NULL CHECK (last >= first),
  probability REAL NOT NULL,
  ratio REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  isolated INTEGER NOT NULL CHECK (isolated IN (0, 1))
) STRICT;
CREATE INDEX step_by_package_search ON package_search_step (package_search);
INSERT INTO package_search_step SELECT search, first, last, probability, ratio, low, high, 1 FROM package_step;
DROP TABLE package_step;
ALTER TABLE package_search_job RENAME COLUMN search TO package_search;

CREATE TABLE package_search_cell (
  package_search INTEGER NOT NULL REFERENCES package_search (id),
  first INTEGER NOT NULL,
  last INTEGER NOT NULL CHECK (last >= first),
  probability REAL NOT NULL
) STRICT;
CREATE INDEX cell_by_package_search ON package_search_cell (package_search);

INSERT INTO package_search_cell (package_search, first, last, probability)
SELECT package_search.id, belief.value ->> '$.first', belief.value ->> '$.last', belief.value ->> '$.probability'
FROM package_search, json_each(package_search.posterior) AS belief;
ALTER TABLE package_search DROP COLUMN posterior;

-- Sessions that are stored and not yet judged as a whole.
CREATE TABLE unchecked_session (
  job INTEGER PRIMARY KEY REFERENCES job (id)
) STRICT;
INSERT INTO unchecked_session (job)
SELECT id FROM job WHERE state = 'done' AND runner IS NOT NULL
  AND kind IN ('screen', 'confirm', 'bisect', 'calibrate')
  AND NOT EXISTS (SELECT 1 FROM session_check WHERE session_check.job = job.id);

-- A list of shell commands as JSON: what the issue says to type.
ALTER TABLE outbox ADD COLUMN commands TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(commands));
