-- Whether the machine was itself while a session measured: said once, in the order of judging.

CREATE TABLE session_check (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL UNIQUE REFERENCES job (id),
  machine INTEGER NOT NULL REFERENCES machine (id),
  usable INTEGER NOT NULL CHECK (usable IN (0, 1)),
  reason TEXT NOT NULL CHECK ((reason = '') = usable),
  control REAL NOT NULL CHECK (control >= 0)
) STRICT;
CREATE INDEX session_check_by_machine ON session_check (machine, id);

INSERT OR IGNORE INTO session_check (job, machine, usable, reason, control)
SELECT job.id, job.machine, json_extract(entry.value, '$.usable'),
  iif(json_extract(entry.value, '$.usable'), '', 'void'), json_extract(entry.value, '$.control')
FROM note, json_each(note.value) AS entry JOIN job ON job.id = json_extract(entry.value, '$.job')
WHERE note.name LIKE 'control/%';
DELETE FROM note WHERE name LIKE 'control/%';
