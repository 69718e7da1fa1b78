-- Runners of one machine class may measure different variants. A session goes to one that measures its builds'.

-- Of the session's builds. NULL: it has none, as a build from source, or it ended before this migration.
ALTER TABLE job ADD COLUMN variant TEXT;
UPDATE job SET variant = (SELECT build.variant FROM build WHERE build.id = json_extract(job.spec, '$.environments[0].build'))
  WHERE state IN ('queued', 'leased');

-- With the variant, a claim passes over another variant's sessions without reading their rows.
DROP INDEX job_to_claim;
CREATE INDEX job_to_claim ON job (machine, priority DESC, id, variant) WHERE state = 'queued';

-- It said that it ends, and has not registered since.
ALTER TABLE runner ADD COLUMN has_left INTEGER NOT NULL DEFAULT 0 CHECK (has_left IN (0, 1));
