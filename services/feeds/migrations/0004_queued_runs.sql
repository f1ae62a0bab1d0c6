-- A view of the log: the runs that wait for their slots, for webhooks with a queue wait.
create table feeds.queued_runs (
  run text collate "C" primary key,
  -- The number of the run's experiment, or the id of its task.
  subject text not null,
  pool text not null,
  -- In milliseconds since 1970.
  queued_at_ms double precision not null
);
create index queued_runs_in_order on feeds.queued_runs (queued_at_ms, run);
