-- A machine class is what decides how fast a machine is. What an update changes (kernel, driver, libc) are facts
-- of it, which come and go.

-- "name=value" lines of the facts that make the class. Of several rows that are one class now, the one that was
-- used last goes on, with its series; the others keep theirs and have no class.
ALTER TABLE machine ADD COLUMN class TEXT;
UPDATE machine SET class = coalesce(
  (SELECT group_concat(key || '=' || value || char(10), '') FROM
    (SELECT key, value FROM json_each(machine.facts)
     WHERE key IN ('arch', 'cpu_count', 'cpu_model', 'gpu', 'memory_bytes')
       OR NOT EXISTS (SELECT 1 FROM json_each(machine.facts)
                      WHERE key IN ('arch', 'cpu_count', 'cpu_model', 'gpu', 'memory_bytes'))
     ORDER BY key)), '');
UPDATE machine SET class = NULL WHERE EXISTS
  (SELECT 1 FROM machine AS other WHERE other.class = machine.class AND other.id <> machine.id
   AND (coalesce((SELECT max(id) FROM job WHERE job.machine = other.id), 0), other.id)
     > (coalesce((SELECT max(id) FROM job WHERE job.machine = machine.id), 0), machine.id));
-- Theirs may be the fingerprint of the class.
UPDATE machine SET fingerprint = lower(hex(randomblob(32))) WHERE class IS NULL;
CREATE UNIQUE INDEX machine_by_class ON machine (class);

CREATE TABLE machine_facts (
  id INTEGER PRIMARY KEY,
  machine INTEGER NOT NULL REFERENCES machine (id),
  facts TEXT NOT NULL CHECK (json_valid(facts)),
  first_seen_us INTEGER NOT NULL,
  UNIQUE (machine, facts)
) STRICT;
INSERT INTO machine_facts (machine, facts, first_seen_us)
SELECT id, facts, coalesce((SELECT min(created_at_us) FROM job WHERE job.machine = machine.id), 0)
FROM machine;

ALTER TABLE runner ADD COLUMN facts INTEGER REFERENCES machine_facts (id);
UPDATE runner SET facts = (SELECT f.id FROM machine_facts AS f WHERE f.machine = runner.machine);

-- Of the runner that claimed the job last.
ALTER TABLE job ADD COLUMN facts INTEGER REFERENCES machine_facts (id);
UPDATE job SET facts = (SELECT f.id FROM machine_facts AS f WHERE f.machine = job.machine)
  WHERE runner IS NOT NULL;
