"""Makes a database as the service has after months, drawn from a seed, so that pages, queries and
documents can be judged without waiting for it. The real nightjard makes the schema; the rows are
inserted through it. Run `python tests/support/history --help`."""
