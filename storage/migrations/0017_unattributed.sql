-- Findings that are confirmed and have neither a culprit nor a range are reported, too.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''unconfirmed'', ''range''', '''unconfirmed'', ''range'', ''unattributed''')
  WHERE type = 'table' AND name IN ('regression', 'regression_change');
PRAGMA writable_schema = RESET;
