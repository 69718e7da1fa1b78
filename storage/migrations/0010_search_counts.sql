-- What a search's verdict rests on: the confirmation's runs and sessions count as its own do.

ALTER TABLE bisection ADD COLUMN runs INTEGER NOT NULL DEFAULT 0 CHECK (runs >= 0);
ALTER TABLE bisection ADD COLUMN sessions INTEGER NOT NULL DEFAULT 0 CHECK (sessions >= 0);

UPDATE bisection SET
  runs = (SELECT count(*) FROM regression_change AS c, json_each(c.evidence, '$.runs')
          WHERE c.regression = bisection.regression AND json_extract(c.evidence, '$.stage') = 'bisection'),
  sessions = (SELECT count(DISTINCT json_extract(value, '$.session'))
              FROM regression_change AS c, json_each(c.evidence, '$.runs')
              WHERE c.regression = bisection.regression AND json_extract(c.evidence, '$.stage') = 'bisection');
