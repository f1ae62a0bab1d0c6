-- The storage of each checkpoint, where it was declared: folded from the log. A row is deleted with the checkpoint's
-- bytes.
create table registry.placed (
  checkpoint text collate "C" primary key,
  root text collate "C" not null,
  -- The id that it was declared with; empty for none.
  storage_id text collate "C" not null,
  -- void: failed or abandoned; its files are still there while it is in the table of unfinished ones.
  state text not null check (state in ('declared', 'complete', 'condemned', 'void'))
);
create index placed_by_storage on registry.placed (root, storage_id, state);
