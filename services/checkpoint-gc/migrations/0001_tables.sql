-- An index into the log: the rows of checkpoints, validations and referrers are folded from it. Decisions are made on the
-- streams.

-- Complete checkpoints.
create table checkpoint_gc.checkpoints (
  checkpoint text collate "C" primary key,
  -- The experiment, or the task whose folder is saved; empty for a folder that a person uploaded.
  experiment text collate "C" not null,
  -- The trial; empty without one.
  trial text collate "C" not null,
  run integer not null,
  step double precision not null,
  -- The position in the log at which the checkpoint became complete.
  position double precision not null,
  retention text not null check (retention in ('kept', 'condemned', 'deleting', 'deleted')),
  grace_end_ms double precision not null,
  -- True if a person deletes the checkpoint: no policy keeps it.
  manual boolean not null default false,
  -- True if files differ from the manifest: a policy does not count the checkpoint.
  damaged boolean not null default false,
  -- Whether a person had some of the files deleted: a policy counts only a checkpoint with all files.
  files text not null default 'all' check (files in ('all', 'thinning', 'thinned'))
);
create index checkpoints_of_experiment on checkpoint_gc.checkpoints (experiment);
create index checkpoints_condemned on checkpoint_gc.checkpoints (grace_end_ms)
  where retention = 'condemned';
create index checkpoints_deleting on checkpoint_gc.checkpoints (checkpoint)
  where retention = 'deleting';
create index checkpoints_thinning on checkpoint_gc.checkpoints (checkpoint)
  where files = 'thinning';

-- Validations, of which a step may have several, each with other metrics; the finite values are the text of a JSON
-- object.
create table checkpoint_gc.validations (
  trial text collate "C" not null,
  step double precision not null,
  run integer not null,
  position double precision not null,
  scalars text not null,
  primary key (trial, step, run, position)
);

-- The declarations of runs in the order of the log, each with the key of the last validation that the run recorded
-- before it: the node's rank and its number there; 0 for none.
create table checkpoint_gc.declarations (
  checkpoint text collate "C" primary key,
  trial text collate "C" not null,
  run integer not null,
  position double precision not null,
  step double precision not null,
  node_rank integer not null,
  number double precision not null
);
create index declarations_of_run on checkpoint_gc.declarations (trial, run, position);

-- The highest number of a run's validations in the log, by the rank of the node that recorded them.
create table checkpoint_gc.arrived (
  trial text collate "C" not null,
  run integer not null,
  node_rank integer not null,
  number double precision not null,
  primary key (trial, run, node_rank)
);

-- The ends of runs, each with the key of the last validation that it names: empty for none, null if it is unknown. The
-- time is by the log's clock.
create table checkpoint_gc.run_ends (
  trial text collate "C" not null,
  run integer not null,
  last_validation text,
  ended_ms double precision not null,
  primary key (trial, run)
);

-- Ended runs whose experiment is judged once more when their values are no longer waited for; the row goes then.
create table checkpoint_gc.overdue (
  trial text collate "C" not null,
  run integer not null,
  experiment text collate "C" not null,
  ended_ms double precision not null,
  primary key (trial, run)
);
create index overdue_by_end on checkpoint_gc.overdue (ended_ms);

-- Trials and tasks that may need a checkpoint.
create table checkpoint_gc.referrers (
  checkpoint text collate "C" not null,
  trial text collate "C" not null,
  -- True while the trial has ended: it needs the checkpoint again when it is continued.
  resting boolean not null default false,
  primary key (checkpoint, trial)
);
create index referrers_of_trial on checkpoint_gc.referrers (trial);

create table checkpoint_gc.view_cursor (
  view text primary key,
  position bigint not null,
  commit_id uuid not null,
  -- The id of the event at the position; empty at 0. After a restored backup a commit may have other events.
  event text not null,
  -- The version of the code that folded the rows.
  version integer not null
);

-- Streams that a view could not apply: the first event that failed, and how many wait behind it.
create table checkpoint_gc.view_set_aside (
  view text not null,
  stream text collate "C" not null,
  position bigint not null,
  type text not null,
  reason text not null,
  waiting integer not null default 0,
  set_aside_at timestamptz not null default now(),
  primary key (view, stream)
);

-- Checkpoints whose last step failed: why, and when it is retried. Other checkpoints do not wait for them. Not folded from
-- the log: a checkpoint without a row is tried at once.
create table checkpoint_gc.retries (
  checkpoint text collate "C" primary key,
  tries integer not null,
  next_ms double precision not null,
  why text not null
);

-- Permanently deleted experiments, and deleted tasks, that may still have rows of checkpoints and validations; the row is deleted with them.
create table checkpoint_gc.leftovers (
  experiment text collate "C" primary key
);

-- Permanently deleted experiments whose TensorBoard files still exist; the row is deleted with the files.
create table checkpoint_gc.tensorboards (
  experiment text collate "C" primary key
);
