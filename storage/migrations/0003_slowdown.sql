-- How much slower than its best a fixed piece of work ran beside each iteration: older runs had none.

ALTER TABLE run ADD COLUMN slowdown BLOB NOT NULL DEFAULT x'';
