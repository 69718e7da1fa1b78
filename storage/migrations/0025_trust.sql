-- How often verdicts are right. Nights are counted while they are judged, since nobody can count years of a fleet
-- each time that somebody asks.

-- What stage one judged of one metric on one machine class, and what the newest night could have seen.
CREATE TABLE judged (
  machine INTEGER NOT NULL REFERENCES machine (id),
  metric TEXT NOT NULL,
  since_us INTEGER NOT NULL,  -- of the first night that counts
  nights INTEGER NOT NULL CHECK (nights >= 1),
  series_nights INTEGER NOT NULL CHECK (series_nights >= 0),
  suspicions INTEGER NOT NULL CHECK (suspicions >= 0),
  dismissed INTEGER NOT NULL CHECK (dismissed >= 0),  -- suspicions that stage two did not confirm
  noise_series INTEGER NOT NULL CHECK (noise_series >= 0),  -- series that the next three are of
  smallest REAL,
  smallest_low REAL,
  smallest_high REAL,
  PRIMARY KEY (machine, metric),
  CHECK ((noise_series = 0) = (smallest IS NULL))
) STRICT, WITHOUT ROWID;

-- What a person said of a finding.
CREATE TABLE ruling (
  regression INTEGER PRIMARY KEY REFERENCES regression (id),
  kind TEXT NOT NULL CHECK (kind IN ('no_regression', 'meant', 'cause')),
  confirmed INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
  commit_sha TEXT CHECK (length(commit_sha) = 40),
  at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX ruling_by_kind ON ruling (kind, confirmed);

-- Dismissals of before. One that accepted the new level set a mark in the same moment.
INSERT OR REPLACE INTO ruling (regression, kind, confirmed, at_us)
SELECT regression.id,
  iif(EXISTS (SELECT 1 FROM mark WHERE mark.at_us = audit.at_us AND mark.actor = audit.actor), 'meant',
      'no_regression'),
  EXISTS (SELECT 1 FROM regression_change AS said
          WHERE said.regression = regression.id AND said.state = 'confirmed'),
  audit.at_us
FROM audit JOIN regression ON regression.id = CAST(substr(audit.subject, length('regression/') + 1) AS INTEGER)
WHERE audit.action = 'dismiss-regression' AND regression.state = 'dismissed'
ORDER BY audit.id;

-- What a replayed search said, and whether it was right: the steps that it named, and before that its likeliest
-- commit, once for each bin of probability.
CREATE TABLE replay_prediction (
  replay INTEGER NOT NULL REFERENCES replay (id),
  number INTEGER NOT NULL CHECK (number >= 0),
  named INTEGER NOT NULL CHECK (named IN (0, 1)),
  probability REAL NOT NULL CHECK (probability BETWEEN 0 AND 1),
  was_right INTEGER NOT NULL CHECK (was_right IN (0, 1)),
  PRIMARY KEY (replay, number)
) STRICT, WITHOUT ROWID;
