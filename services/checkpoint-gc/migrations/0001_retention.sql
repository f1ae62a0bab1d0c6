-- All of it is folded from the log: an index into it. What is decided is decided on the streams.

-- Complete checkpoints.
create table checkpoint_gc.checkpoints (
  checkpoint text collate "C" primary key,
  experiment text collate "C" not null,
  trial text collate "C" not null,
  run integer not null,
  step double precision not null,
  retention text not null check (retention in ('kept', 'condemned', 'deleting', 'deleted')),
  grace_end_ms double precision not null
);
create index checkpoints_of_experiment on checkpoint_gc.checkpoints (experiment);
create index checkpoints_condemned on checkpoint_gc.checkpoints (grace_end_ms)
  where retention = 'condemned';
create index checkpoints_deleting on checkpoint_gc.checkpoints (checkpoint)
  where retention = 'deleting';

-- Validations, the first of each run and step; the finite values as a JSON object's text.
create table checkpoint_gc.validations (
  trial text collate "C" not null,
  step double precision not null,
  run integer not null,
  scalars text not null,
  primary key (trial, step, run)
);

-- Trials that may need a checkpoint besides the one whose it is.
create table checkpoint_gc.referrers (
  checkpoint text collate "C" not null,
  trial text collate "C" not null,
  primary key (checkpoint, trial)
);
create index referrers_of_trial on checkpoint_gc.referrers (trial);

create table checkpoint_gc.view_cursor (
  view text primary key,
  position bigint not null,
  commit_id uuid not null
);
