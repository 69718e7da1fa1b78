-- A suspicion whose confirmation was cut short is `unconfirmed`, a night that a person ends is `cancelled`, and a
-- job knows that its runner began anew. The lists of states grow as in migration 5.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''judging'', ''done''', '''judging'', ''done'', ''cancelled''')
  WHERE type = 'table' AND name = 'night';
UPDATE sqlite_schema SET sql = replace(sql, '''merged''', '''merged'', ''unconfirmed''')
  WHERE type = 'table' AND name IN ('regression', 'regression_change');
PRAGMA writable_schema = RESET;

ALTER TABLE regression ADD COLUMN unfinished INTEGER NOT NULL DEFAULT 0 CHECK (unfinished >= 0);
ALTER TABLE night ADD COLUMN cancelled_by TEXT NOT NULL DEFAULT '';
ALTER TABLE runner ADD COLUMN token TEXT NOT NULL DEFAULT '';  -- name of the token that registered it
ALTER TABLE job ADD COLUMN restarted INTEGER NOT NULL DEFAULT 0 CHECK (restarted IN (0, 1));

-- Two machine classes that showed one culprit were both `reported`, with one issue: they become one regression.
CREATE TEMP TABLE joined AS
SELECT other.id AS id, keeper.id AS keeper
FROM regression AS other
JOIN outbox ON outbox.kind = 'open_issue' AND outbox.key = 'regression:' || other.fingerprint
JOIN regression AS keeper ON keeper.id = outbox.regression
WHERE other.state = 'reported' AND keeper.state = 'reported' AND other.id <> keeper.id
  AND other.fingerprint = keeper.fingerprint AND other.fingerprint <> '';
INSERT INTO regression_series (regression, position, series, before, after, ratio, low, high)
SELECT joined.keeper, 1000 * joined.id + shown.position, shown.series, shown.before, shown.after, shown.ratio,
  shown.low, shown.high
FROM joined JOIN regression_series AS shown ON shown.regression = joined.id
WHERE shown.series NOT IN (SELECT series FROM regression_series WHERE regression = joined.keeper);
INSERT INTO regression_change (regression, state, at_us, evidence)
SELECT regression.id, 'merged', regression.updated_at_us,
  coalesce((SELECT said.evidence FROM regression_change AS said
            WHERE said.regression = joined.id AND said.state = 'blamed' ORDER BY said.id DESC LIMIT 1),
           json_object('reason', 'regression ' || joined.keeper || ' has the issue of this cause'))
FROM joined JOIN regression ON regression.id = joined.id;
UPDATE regression SET state = 'merged', fingerprint = '',
  merged_into = (SELECT keeper FROM joined WHERE joined.id = regression.id)
WHERE id IN (SELECT id FROM joined);
DROP TABLE joined;
