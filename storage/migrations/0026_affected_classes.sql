-- Which machine classes show a regression, and which were looked at and do not, as rows of their own.

-- `gpu`: models, each once; empty: it has none. `first_seen`: the night in which the class showed it, only of `seen`.
-- `ratio`, `low` and `high`: of its first series there if seen; of not_seen, what the night's screening said.
CREATE TABLE regression_class (
  regression INTEGER NOT NULL REFERENCES regression (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  gpu TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('seen', 'not_seen', 'not_looked_for')),
  first_seen INTEGER REFERENCES night (id),
  ratio REAL,
  low REAL,
  high REAL,
  PRIMARY KEY (regression, machine),
  CHECK ((state = 'seen') = (first_seen IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX regression_class_by_machine ON regression_class (machine, state);

CREATE INDEX regression_by_merged ON regression (merged_into) WHERE merged_into IS NOT NULL;

CREATE TEMP TABLE gpus AS
SELECT machine.id AS machine, coalesce(
  (SELECT group_concat(model, ', ') FROM
    (SELECT DISTINCT value AS model
     FROM json_each('[' || replace(json_quote(json_extract(machine.facts, '$.gpu')), ', ', '","') || ']')
     ORDER BY model)
   WHERE model <> 'none'), '') AS gpu
FROM machine;

-- Every regression, with all that were merged into it, at whatever remove.
CREATE TEMP TABLE told AS
WITH RECURSIVE told (regression, id) AS (
  SELECT id, id FROM regression UNION
  SELECT told.regression, merged.id FROM told JOIN regression AS merged ON merged.merged_into = told.id)
SELECT told.regression, seen.machine, min(seen.night) AS first_seen
FROM told JOIN regression AS seen ON seen.id = told.id GROUP BY told.regression, seen.machine;
CREATE INDEX temp.told_by_regression ON told (regression, machine);

-- Of each class, the first of its series.
INSERT INTO regression_class (regression, machine, gpu, state, first_seen, ratio, low, high)
SELECT shown.regression, series.machine, gpus.gpu, 'seen',
  coalesce((SELECT first_seen FROM told WHERE told.regression = shown.regression
            AND told.machine = series.machine), regression.night),
  shown.ratio, shown.low, shown.high
FROM regression_series AS shown JOIN series ON series.id = shown.series
JOIN regression ON regression.id = shown.regression JOIN gpus ON gpus.machine = series.machine
WHERE shown.position =
  (SELECT min(other.position) FROM regression_series AS other JOIN series AS its ON its.id = other.series
   WHERE other.regression = shown.regression AND its.machine = series.machine);

-- A class looked and did not see it if the night made a level there, of the metric and the model, after another
-- level. Which classes there were and did not look is not stored.
CREATE TEMP TABLE named AS
SELECT series.id AS series, series.machine, series.metric, series.variant,
  substr(after_suite, 1, instr(after_suite, '/') - 1) AS model
FROM (SELECT id, substr(name, instr(name, '/') + 1) AS after_suite FROM workload) AS workload
JOIN series ON series.workload = workload.id;
CREATE INDEX temp.named_by_model ON named (model, metric, variant);
INSERT OR IGNORE INTO regression_class (regression, machine, gpu, state)
SELECT DISTINCT regression.id, other.machine, gpus.gpu, 'not_seen'
FROM regression JOIN named AS lead ON lead.series = regression.lead
JOIN named AS other ON other.model = lead.model AND other.metric = lead.metric AND other.variant = lead.variant
JOIN level ON level.series = other.series AND level.night = regression.night AND level.build = regression.bad
JOIN gpus ON gpus.machine = other.machine
WHERE regression.state NOT IN ('suspected', 'unconfirmed', 'dismissed', 'historical')
  AND EXISTS (SELECT 1 FROM level AS before WHERE before.series = other.series AND before.night < regression.night);
DROP TABLE named;
DROP TABLE told;
DROP TABLE gpus;
