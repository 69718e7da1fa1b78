-- The machine class that an enrolled runner's tokens are bound to. NULL: that with which its runner registers first.
ALTER TABLE enrolment ADD COLUMN machine INTEGER REFERENCES machine (id);
UPDATE enrolment SET machine = (SELECT r.machine FROM runner AS r JOIN runner_token AS t ON r.token = 'runner:' || t.runner
                                WHERE t.enrolment = enrolment.id);
