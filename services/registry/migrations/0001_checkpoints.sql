-- The files of manifests, by the manifest's digest: written before the event that names it, and never changed.
create table registry.manifest_files (
  digest text collate "C" not null,
  path text collate "C" not null,
  bytes bigint not null,
  sha256 text not null,
  primary key (digest, path)
);

-- Checkpoints that are not complete: folded from the log, and gone once nothing is left to be done about them.
create table registry.unfinished (
  checkpoint text collate "C" primary key,
  trial text collate "C" not null,
  run integer not null,
  -- The checkpoint_storage section as JSON text; not jsonb, which refuses \u0000.
  storage text not null,
  -- declared: being written. run_over: nobody writes it any more. void: failed or abandoned, its files may go.
  state text not null check (state in ('declared', 'run_over', 'void'))
);
create index unfinished_of_trial on registry.unfinished (trial);
create index unfinished_to_do on registry.unfinished (checkpoint) where state <> 'declared';

create table registry.view_cursor (
  view text primary key,
  position bigint not null,
  commit_id uuid not null
);
