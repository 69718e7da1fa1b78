-- One-time tokens by which runners enrol, and the tokens that runners got so. Hashes only: nobody can read a token here.

CREATE TABLE enrolment (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  -- The one name that it may be used for. Empty: any that no runner's own token is bound to.
  runner TEXT NOT NULL,
  actor TEXT NOT NULL,
  made_at_us INTEGER NOT NULL,
  ends_at_us INTEGER NOT NULL,
  -- NULL: not yet.
  used_at_us INTEGER,
  revoked_at_us INTEGER
) STRICT;

CREATE TABLE runner_token (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  -- The name that it is bound to; the runner registers after it has its token.
  runner TEXT NOT NULL,
  enrolment INTEGER NOT NULL REFERENCES enrolment (id),
  made_at_us INTEGER NOT NULL,
  -- First used; NULL: not yet.
  used_at_us INTEGER,
  -- Set when its successor is used for the first time. NULL: no end is known.
  ends_at_us INTEGER,
  revoked_at_us INTEGER
) STRICT;

CREATE INDEX runner_token_by_runner ON runner_token (runner) WHERE revoked_at_us IS NULL;
CREATE INDEX runner_token_by_enrolment ON runner_token (enrolment);
