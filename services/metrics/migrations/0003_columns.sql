-- Reports as they came (tails), and the columns that compaction makes of them (blocks, columns). metrics.points keeps the
-- rows of earlier versions until they have been moved here.

-- What is known of a run, changed together with its tails: a writer that has read an old version does not commit.
create table metrics.runs (
  trial text collate "C" not null,
  run integer not null,
  version bigint not null default 0,
  -- The keys of its stored reports, as ranges (src/core/columns/key-ledger.ts).
  keys bytea not null default '',
  -- The latest report of the group progress, and when it was made.
  progress double precision,
  progress_at_ms double precision,
  -- From the first training report to the last.
  first_step double precision,
  last_step double precision,
  first_at_ms double precision,
  last_at_ms double precision,
  -- How much waits for compaction, and when it is due; null when nothing waits.
  tail_weight integer not null default 0,
  due_at timestamptz,
  primary key (trial, run)
) with (fillfactor = 60);
create index runs_due on metrics.runs (due_at) where due_at is not null;

-- Keys that the ranges do not take: of another form than <rank>-<n>, or one range too many.
create table metrics.loose_keys (
  trial text collate "C" not null,
  run integer not null,
  key text collate "C" not null,
  primary key (trial, run, key)
);

create table metrics.tails (
  id bigint generated always as identity primary key,
  trial text collate "C" not null,
  run integer not null,
  group_name text collate "C" not null,
  reports integer not null,
  first_step double precision not null,
  last_step double precision not null,
  first_at_ms double precision not null,
  last_at_ms double precision not null,
  -- A JSON list of the reports (src/core/columns/tail.ts), in UTF-8.
  body bytea not null
);
alter table metrics.tails alter column body set storage external;
create index tails_of_trial on metrics.tails (trial, run, group_name);

create table metrics.blocks (
  id bigint generated always as identity primary key,
  trial text collate "C" not null,
  run integer not null,
  group_name text collate "C" not null,
  reports integer not null,
  -- The size of the reports as JSON lines, roughly.
  bytes integer not null,
  first_step double precision not null,
  last_step double precision not null,
  first_at_ms double precision not null,
  last_at_ms double precision not null,
  -- Keys, steps, times and ranks (src/core/columns/block.ts).
  frame bytea not null
);
alter table metrics.blocks alter column frame set storage external;
create index blocks_of_trial on metrics.blocks (trial, run, group_name);

create table metrics.columns (
  block bigint not null references metrics.blocks on delete cascade,
  kind text collate "C" not null,
  name text collate "C" not null,
  points integer not null,
  -- The statistics count finite values only; null without one.
  min double precision,
  max double precision,
  first double precision,
  last double precision,
  nans integer not null,
  infinities integer not null,
  body bytea not null,
  primary key (block, kind, name)
);
alter table metrics.columns alter column body set storage external;

-- The reports of a trial so far.
create table metrics.names (
  trial text collate "C" not null,
  group_name text collate "C" not null,
  name text collate "C" not null,
  kind text collate "C" not null,
  primary key (trial, group_name, name, kind)
);
