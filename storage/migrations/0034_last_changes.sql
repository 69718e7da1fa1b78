-- Changes of state after the first were not noted in the regression itself.
UPDATE regression SET updated_at_us =
  coalesce((SELECT max(at_us) FROM regression_change WHERE regression = regression.id), updated_at_us);
