-- A message may be for the export.
CREATE TABLE outbox_with_verdicts (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  regression INTEGER REFERENCES regression (id) CHECK (regression IS NOT NULL OR kind = 'open_issue'),
  kind TEXT NOT NULL CHECK (kind IN ('open_issue', 'comment', 'close_issue', 'chat', 'verdict')),
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'failed')),
  attempts INTEGER NOT NULL,
  not_before_us INTEGER,
  error TEXT NOT NULL,
  url TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  -- A list of shell commands as JSON: what the issue says to type.
  commands TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(commands))
) STRICT;
INSERT INTO outbox_with_verdicts SELECT id, key, regression, kind, title, body, state, attempts, not_before_us, error, url,
  created_at_us, commands FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_with_verdicts RENAME TO outbox;
CREATE INDEX outbox_pending ON outbox (id) WHERE state = 'pending';
CREATE INDEX outbox_by_regression ON outbox (regression);
CREATE INDEX outbox_failed ON outbox (created_at_us) WHERE state = 'failed';
