-- Wheels that builders make from source. The list of job kinds grows as in migration 5. A build job belongs to no
-- machine class, since whoever can build may claim it.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql, '''profile''', '''profile'', ''build'''),
    'machine INTEGER NOT NULL REFERENCES machine (id)', 'machine INTEGER REFERENCES machine (id)')
  WHERE type = 'table' AND name = 'job';
PRAGMA writable_schema = RESET;

-- What was asked of builders. One wheel serves a whole native group, so the group is asked for once. Another commit of
-- it is asked for only where the first one's wheel cannot be imported, which may be its Python's fault.
-- `failures` counts those of the infrastructure. After one, the job is queued again; nobody claims it before
-- `not_before_us`, and the runner `avoided` not before `avoided_until_us`.
CREATE TABLE source_build (
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL UNIQUE REFERENCES job (id),
  native_state TEXT NOT NULL CHECK (length(native_state) = 64),
  variant TEXT NOT NULL,
  recipe_sha256 TEXT NOT NULL CHECK (length(recipe_sha256) = 64),
  commit_sha TEXT NOT NULL CHECK (length(commit_sha) = 40),
  state TEXT NOT NULL CHECK (state IN ('waiting', 'built', 'does_not_compile', 'does_not_import')),
  build INTEGER REFERENCES build (id),
  reason TEXT NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  not_before_us INTEGER NOT NULL,
  avoided INTEGER REFERENCES runner (id),
  avoided_until_us INTEGER NOT NULL DEFAULT 0,
  result TEXT NOT NULL CHECK (result = '' OR json_valid(result)),
  CHECK ((state = 'built') = (build IS NOT NULL)),
  UNIQUE (native_state, variant, recipe_sha256, commit_sha)
) STRICT;
CREATE UNIQUE INDEX source_build_of_group ON source_build (native_state, variant, recipe_sha256)
  WHERE state <> 'does_not_import';
CREATE INDEX source_build_by_commit ON source_build (commit_sha, variant);
CREATE INDEX job_to_build ON job (priority DESC, id) WHERE state = 'queued' AND kind = 'build';
