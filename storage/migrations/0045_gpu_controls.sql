-- Where the control workload's kernels lie, of a session that was measured on a GPU.
CREATE TABLE gpu_control (
  job INTEGER PRIMARY KEY REFERENCES job (id),
  compute REAL NOT NULL CHECK (compute > 0),
  bandwidth REAL NOT NULL CHECK (bandwidth > 0),
  launch REAL NOT NULL CHECK (launch > 0)
) STRICT;
