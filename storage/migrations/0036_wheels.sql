-- A change may also be a wheel's, which was compiled or packed in another way. A part that was not measured apart is
-- NULL: the packages' where they do not differ, and the wheel's where no wheel serves both ends.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(sql,
    '''both'', ''unknown''',
    '''both'', ''unknown'', ''wheel'', ''source_and_wheel'', ''environment_and_wheel'', ''all_three'''),
    'environment_ratio REAL NOT NULL', 'environment_ratio REAL'),
    'environment_low REAL NOT NULL', 'environment_low REAL'),
    'environment_high REAL NOT NULL', 'environment_high REAL')
  WHERE type = 'table' AND name = 'attribution';
PRAGMA writable_schema = RESET;
ALTER TABLE attribution ADD COLUMN wheel_ratio REAL;
ALTER TABLE attribution ADD COLUMN wheel_low REAL;
ALTER TABLE attribution ADD COLUMN wheel_high REAL;

-- By which recipe a builder made a build.
CREATE INDEX source_build_by_build ON source_build (build);
