-- What a commit's compiled files depend on; why a commit of a search has no run; searches that end with a range
-- of commits. The lists of states grow as in migration 5.

-- Written once a commit. States by different `rules` cannot be compared.
CREATE TABLE commit_state (
  commit_sha TEXT NOT NULL CHECK (length(commit_sha) = 40),
  rules INTEGER NOT NULL CHECK (rules >= 1),
  native_state TEXT NOT NULL CHECK (length(native_state) = 64),
  library_state TEXT NOT NULL CHECK (length(library_state) = 64),
  PRIMARY KEY (commit_sha, rules)
) STRICT, WITHOUT ROWID;
CREATE INDEX commit_by_native_state ON commit_state (native_state, rules);
CREATE INDEX commit_by_library_state ON commit_state (library_state, rules);

-- Until now the sentence alone said why. What the planner found in the way is `no_build_here`; what a runner said
-- of an environment is `does_not_import`; else the workload failed in every run.
ALTER TABLE bisection_untestable ADD COLUMN cause TEXT NOT NULL DEFAULT 'does_not_run'
  CHECK (cause IN ('does_not_compile', 'does_not_import', 'does_not_run', 'no_build_here', 'infrastructure'));
UPDATE bisection_untestable SET cause = 'no_build_here'
  WHERE reason LIKE '% and needs a native build%' OR reason LIKE '%there is no build to lay it over'
    OR reason LIKE '% is not proved' OR reason = 'one of the ends is not stored any more';
UPDATE bisection_untestable SET cause = coalesce(
  (SELECT CASE run.status WHEN 'broken_environment' THEN 'does_not_import' WHEN 'unavailable' THEN 'infrastructure' END
   FROM bisection_commit AS tried JOIN build ON build.commit_sha = tried.commit_sha JOIN run ON run.build = build.id
   JOIN bisection_job AS asked ON asked.bisection = tried.bisection AND asked.job = run.job
   WHERE tried.bisection = bisection_untestable.bisection AND tried.position = bisection_untestable.position
     AND run.reason = bisection_untestable.reason ORDER BY run.id LIMIT 1), cause)
  WHERE cause = 'does_not_run';

-- The commits and figures of a regression whose search ended with a range stand where a culprit's would.
ALTER TABLE regression ADD COLUMN is_range INTEGER NOT NULL DEFAULT 0 CHECK (is_range IN (0, 1));

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''culprit'', ''not_reproduced'', ''inconclusive''',
                                       '''culprit'', ''not_reproduced'', ''inconclusive'', ''range''')
  WHERE type = 'table' AND name = 'bisection';
UPDATE sqlite_schema SET sql = replace(sql, '''unconfirmed''', '''unconfirmed'', ''range''')
  WHERE type = 'table' AND name IN ('regression', 'regression_change');
PRAGMA writable_schema = RESET;
