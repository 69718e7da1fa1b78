-- What the issue tracker refused is told at each tick.
CREATE INDEX outbox_failed ON outbox (created_at_us) WHERE state = 'failed';
