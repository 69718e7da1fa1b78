-- Of a compiled workload there may have been nothing to compare with eager. That is no pass.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''timeout'',
  ''OOM''', '''timeout'',
  ''OOM'', ''no_evidence''')
  WHERE type = 'table' AND name = 'run';
PRAGMA writable_schema = RESET;
