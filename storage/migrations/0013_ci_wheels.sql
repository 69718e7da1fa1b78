-- Wheels that PyTorch's CI has built: what was looked for and what came of it; and what a build can run on.

-- One look-up a commit and variant. `absent` comes only from a look that saw everything; what could not be seen is
-- `failed` and is looked at again from `retry_at_us` on, or never again if that is NULL. `found`: a wheel is there
-- and was not asked for yet. `fetched`: it is `build`.
CREATE TABLE ci_lookup (
  id INTEGER PRIMARY KEY,
  commit_sha TEXT NOT NULL CHECK (length(commit_sha) = 40),
  variant TEXT NOT NULL,
  native_state TEXT CHECK (length(native_state) = 64),
  state TEXT NOT NULL CHECK (state IN ('wanted', 'found', 'fetched', 'absent', 'failed')),
  fetch INTEGER NOT NULL CHECK (fetch IN (0, 1)),
  urgent INTEGER NOT NULL CHECK (urgent IN (0, 1)),
  reason TEXT NOT NULL,
  looked_at TEXT NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  failures INTEGER NOT NULL CHECK (failures >= 0),
  build INTEGER REFERENCES build (id),
  wanted_at_us INTEGER NOT NULL,
  looked_at_us INTEGER,
  retry_at_us INTEGER,
  UNIQUE (commit_sha, variant)
) STRICT;
CREATE INDEX ci_lookup_by_retry ON ci_lookup (retry_at_us) WHERE retry_at_us IS NOT NULL;
CREATE INDEX ci_lookup_by_native_state ON ci_lookup (native_state, variant) WHERE native_state IS NOT NULL;

-- What a wheel says of the machines that can run it; NULL: it does not say.
ALTER TABLE build ADD COLUMN python_tag TEXT;
ALTER TABLE build ADD COLUMN platform_tag TEXT;
ALTER TABLE build ADD COLUMN glibc TEXT;
ALTER TABLE build ADD COLUMN gpu_architectures TEXT;
