-- Nights that were measured elsewhere, and steps of the level in them. The lists of states grow as in migration 5.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''unusable''', '''unusable'', ''imported''')
  WHERE type = 'table' AND name = 'build';
UPDATE sqlite_schema SET sql = replace(sql, '''api'', ''build''', '''api'', ''build'', ''imported''')
  WHERE type = 'table' AND name = 'night';
UPDATE sqlite_schema SET sql = replace(replace(sql, '''unattributed''', '''unattributed'', ''historical'''),
    '''creep'', ''search''', '''creep'', ''search'', ''history''')
  WHERE type = 'table' AND name IN ('regression', 'regression_change');
PRAGMA writable_schema = RESET;

-- What makes a night the same when it is imported again.
CREATE TABLE imported_night (
  night INTEGER PRIMARY KEY REFERENCES night (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  build INTEGER NOT NULL REFERENCES build (id),
  measured_at_us INTEGER NOT NULL,
  UNIQUE (machine, build, measured_at_us)
) STRICT;

-- judged: its steps were looked for since values were added last.
CREATE TABLE imported_series (
  series INTEGER PRIMARY KEY REFERENCES series (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  judged INTEGER NOT NULL CHECK (judged IN (0, 1))
) STRICT;
CREATE INDEX imported_series_by_machine ON imported_series (machine, judged);
CREATE INDEX imported_series_to_judge ON imported_series (series) WHERE judged = 0;

CREATE INDEX regression_of_history ON regression (lead) WHERE found_by = 'history';
CREATE INDEX improvement_by_series ON improvement (series);
