-- A search that ended is taken up again because a person asks for it: with an older good end, with more runs, or for
-- smaller changes. The newest row of a search says what it may spend.

-- `outcome` to `finished_at_us`: what the search had come to by then.
CREATE TABLE search_widening (
  id INTEGER PRIMARY KEY,
  bisection INTEGER NOT NULL REFERENCES bisection (id),
  at_us INTEGER NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('not_reproduced', 'inconclusive', 'range')),
  good INTEGER NOT NULL REFERENCES build (id),
  posterior TEXT NOT NULL CHECK (posterior = '' OR json_valid(posterior)),
  runs INTEGER NOT NULL CHECK (runs >= 0),
  sessions INTEGER NOT NULL CHECK (sessions >= 0),
  spent_seconds REAL NOT NULL CHECK (spent_seconds >= 0),
  finished_at_us INTEGER NOT NULL,
  max_runs INTEGER NOT NULL CHECK (max_runs >= 0),
  max_minutes INTEGER NOT NULL CHECK (max_minutes >= 0),
  threshold REAL CHECK (threshold > 0)  -- NULL: that of the configuration
) STRICT;
CREATE INDEX widening_by_bisection ON search_widening (bisection);

-- Which sessions a machine measured while these were its facts.
CREATE INDEX job_by_facts ON job (facts) WHERE facts IS NOT NULL;
