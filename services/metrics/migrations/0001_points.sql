-- Every report that was acknowledged, once. Which of them a later run supersedes is worked out when they are read.
create table metrics.points (
  trial text collate "C" not null,
  run integer not null,
  -- The report's key within its run.
  key text collate "C" not null,
  group_name text collate "C" not null,
  step double precision not null,
  -- Milliseconds since 1970, the reporting process's clock.
  at_ms double precision not null,
  -- The values as JSON text, NaN and the infinities as strings. Not jsonb, which refuses \u0000 and rewrites numbers.
  metrics text not null,
  primary key (trial, run, key)
);
-- The order in which a trial's points are read.
create index points_in_order on metrics.points (trial, run, step, key);
