-- A finding that joined another one whose issue is filed, until that issue hears of it. One comment tells all findings
-- of a night.
CREATE TABLE untold_finding (
  regression INTEGER PRIMARY KEY REFERENCES regression (id),
  joined_at_us INTEGER NOT NULL
) STRICT;
