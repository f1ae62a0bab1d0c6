-- Reports as they arrived (tails), and the columns into which compaction merges them (blocks, columns): ADR 41, 53.

-- The state of a run, changed in the same commit as its tails: a writer that has read an older version does not commit.
create table metrics.runs (
  trial text collate "C" not null,
  run integer not null,
  -- The event AllocationGranted of the run whose reports are stored. Another run of a lost history may have had the name.
  grant_position bigint not null,
  grant_id text collate "C" not null,
  version bigint not null default 0,
  -- The keys of its stored reports, as ranges (src/core/columns/key-ledger.ts).
  keys bytea not null default '',
  -- True if loose_keys has keys of the run: for nearly every run the table is not read.
  has_loose_keys boolean not null default false,
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
create index runs_by_grant on metrics.runs (grant_position, trial, run);

-- The log of these tables, and an event of it: the grants of all runs up to there were found in the log.
create table metrics.proven (
  one boolean primary key default true check (one),
  -- The id of the log's first event.
  log text not null,
  position bigint not null,
  id text not null
);

-- Keys that the ranges cannot hold: they are not of the form <rank>-<n>, or the run has too many ranges.
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
  -- The keys of the first and the last report in the order (step, key).
  first_key text collate "C" not null,
  last_key text collate "C" not null,
  first_at_ms double precision not null,
  last_at_ms double precision not null,
  -- The reports (src/core/columns/tail.ts).
  body bytea not null,
  experiment text collate "C" not null,
  -- The position of the tail's last report; its other reports have the positions before it.
  position bigint not null
);
alter table metrics.tails alter column body set storage external;
create index tails_of_trial on metrics.tails (trial, run, group_name);
create index tails_in_stream on metrics.tails (experiment, position);

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
  -- The keys of the first and the last report in the order (step, key).
  first_key text collate "C" not null,
  last_key text collate "C" not null,
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

-- The stream of an experiment's points: each report gets the next position when it is stored. The experiment's row is
-- locked until the commit, so a position is visible only when all positions before it are (ADR 47).
create table metrics.streams (
  experiment text collate "C" primary key,
  -- The position of the last entry.
  position bigint not null default 0,
  -- Entries up to here may be gone: a reader that has not read so far lists the points again.
  removed bigint not null default 0,
  -- The value of store_mark() when the last entry was added; null before the first entry.
  mark text
) with (fillfactor = 60);

-- Tails that have become blocks, for readers that are behind; removed after an hour.
create table metrics.past_tails (
  experiment text collate "C" not null,
  position bigint not null,
  trial text collate "C" not null,
  run integer not null,
  group_name text collate "C" not null,
  reports integer not null,
  body bytea not null,
  compacted_at timestamptz not null default now(),
  primary key (experiment, position)
);
alter table metrics.past_tails alter column body set storage external;
create index past_tails_by_age on metrics.past_tails (compacted_at);

-- Runs that repeat steps of earlier ones: entries of the stream.
create table metrics.supersessions (
  trial text collate "C" not null,
  run integer not null,
  experiment text collate "C" not null,
  position bigint not null,
  -- Points of earlier runs count up to here.
  after_step double precision not null,
  primary key (trial, run)
);
create index supersessions_in_stream on metrics.supersessions (experiment, position);

-- Samples of the machines of a trial. A sample belongs to a moment, not to a step: no run supersedes those of another.
create table metrics.system_points (
  trial text collate "C" not null,
  run integer not null,
  -- The report's key within its run.
  key text collate "C" not null,
  group_name text collate "C" not null,
  -- The node's rank among the run's nodes.
  node integer not null,
  -- A GPU's id, or empty.
  device text collate "C" not null,
  -- Milliseconds since 1970, the reporting process's clock.
  at_ms double precision not null,
  step double precision not null,
  samples integer not null,
  -- A JSON list of {name, min, mean, max}.
  measured text not null,
  primary key (trial, run, key)
);
-- The order in which a trial's system points are read.
create index system_points_in_order on metrics.system_points (trial, at_ms, run, key);

-- All samples of one quantity, brought up to date with each new point: what a run of weeks did is one row to read.
create table metrics.system_totals (
  trial text collate "C" not null,
  run integer not null,
  node integer not null,
  group_name text collate "C" not null,
  device text collate "C" not null,
  name text collate "C" not null,
  samples double precision not null,
  total double precision not null,
  min double precision not null,
  max double precision not null,
  primary key (trial, run, node, group_name, device, name)
);

-- How far this service has read the log for experiments that were deleted for good, whose reports it deletes.
create table metrics.purged (
  one boolean primary key default true check (one),
  position bigint not null,
  -- The id of the event at the position: a log that went back has another one there, or none.
  event text not null
);

-- Identifies this server start and this set of tables (ADR 54). A server that was started again may have been restored,
-- and tables may have been created again. A stream then leaves out positions, so a position that a reader has from a
-- lost time is between two entries, where no reader of this store can be.
create function metrics.store_mark() returns text stable language sql
as $$ select extract(epoch from pg_postmaster_start_time())::text || ' ' || 'metrics.streams'::regclass::oid::text $$;

-- Returns the number of positions that a stream leaves out before its next entry.
create function metrics.position_gap(mark text) returns bigint volatile language sql
as $$ select case when mark = metrics.store_mark() then 0 else floor(random() * 68719476736)::bigint + 1 end $$;

-- The mark of the server start that created this schema: until the next start nothing can have been restored, and
-- streams begin with position 1.
create table metrics.birth (
  one boolean primary key default true check (one),
  mark text not null default metrics.store_mark()
);
insert into metrics.birth default values;

-- The facts about each experiment and task that retention needs, as far as the cursor has read the log.
create table metrics.lives (
  id text collate "C" primary key,
  -- The retention of the configuration.
  policy jsonb not null,
  -- Milliseconds since 1970; null while it runs.
  ended_ms double precision,
  -- none, asked (it can still be undone) or done.
  deletion text collate "C" not null,
  -- When a sweep looks at it again, as long as the cluster keeps measurements for due_days; null for at once.
  due_ms double precision,
  due_days double precision
);
create table metrics.lives_cursor (
  one boolean primary key default true check (one),
  position bigint not null,
  -- The id of the event at the position: a log that went back has another one there, or none.
  event text not null
);
insert into metrics.lives_cursor (position, event) values (0, '');
