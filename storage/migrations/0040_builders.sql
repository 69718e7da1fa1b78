-- Only an enrolment that says so makes a builder; runners that enrolled before are none.
ALTER TABLE enrolment ADD COLUMN builder INTEGER NOT NULL DEFAULT 0 CHECK (builder IN (0, 1));
