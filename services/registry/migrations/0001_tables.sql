-- The files of manifests, by the checkpoint and the manifest's digest. They are written before the event that names the
-- digest, never change, and are deleted after the checkpoint is.
create table registry.manifest_files (
  checkpoint text collate "C" not null,
  digest text collate "C" not null,
  path text collate "C" not null,
  bytes bigint not null,
  sha256 text not null,
  primary key (checkpoint, digest, path)
);

-- Deleted checkpoints whose manifests are still stored. Folded from the log; a row is deleted with the manifest.
create table registry.gone (checkpoint text collate "C" primary key);

-- Checkpoints that are not complete. Folded from the log; a row is deleted when nothing is left to do for it.
create table registry.unfinished (
  checkpoint text collate "C" primary key,
  -- The id of the trial or the task; empty for a folder that a person uploads.
  maker text collate "C" not null,
  run integer not null,
  -- The checkpoint_storage section as JSON text, because jsonb refuses \u0000; null until the checkpoint is declared.
  storage text,
  -- declared: being written. named: its run is over, and the checkpoint may still be completed. run_over: it will not be
  -- completed. void: failed or abandoned, and its files are deleted after a grace period.
  state text not null check (state in ('declared', 'named', 'run_over', 'void')),
  -- When it was declared, its run ended or it became void, in milliseconds since 1970.
  since_ms double precision not null default 0,
  -- The training steps at which it was made.
  step double precision not null default 0
);
create index unfinished_of_maker on registry.unfinished (maker);
create index unfinished_to_do on registry.unfinished (checkpoint) where state <> 'declared';

-- Unfinished checkpoints whose last step failed, and when it is retried. Not folded from the log.
create table registry.unfinished_tries (
  checkpoint text collate "C" primary key,
  tries integer not null,
  next_try_ms double precision not null
);

-- The storage in which each checkpoint was declared. Folded from the log; a row is deleted with the checkpoint's bytes.
create table registry.placed (
  checkpoint text collate "C" primary key,
  root text collate "C" not null,
  -- The storage's id at the declaration; empty for a root that could not be marked.
  storage_id text collate "C" not null,
  -- void: failed or abandoned; its files exist while it has a row in registry.unfinished.
  state text not null check (state in ('declared', 'complete', 'condemned', 'void'))
);
create index placed_by_storage on registry.placed (root, storage_id, state);

create table registry.view_cursor (
  view text primary key,
  position bigint not null,
  commit_id uuid not null,
  -- The id of the event at the position; empty at 0. After a restored backup a commit may have other events.
  event text not null,
  -- The version of the code that folded the rows.
  version integer not null
);

-- Streams that a view could not apply: the first event that failed, and how many wait behind it.
create table registry.view_set_aside (
  view text not null,
  stream text collate "C" not null,
  position bigint not null,
  type text not null,
  reason text not null,
  waiting integer not null default 0,
  set_aside_at timestamptz not null default now(),
  primary key (view, stream)
);
