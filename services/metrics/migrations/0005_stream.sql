-- The stream of an experiment's points: each report has the next position when it is stored. The row of the experiment is
-- locked from then until the commit, so a position is visible only when all before it are (ADR 47).
create table metrics.streams (
  experiment text collate "C" primary key,
  -- The position of the last entry.
  position bigint not null default 0,
  -- Entries up to here may be gone: a reader that has not read so far lists the points again.
  removed bigint not null default 0
) with (fillfactor = 60);

alter table metrics.tails
  add column experiment text collate "C",
  -- The position of the last report of the tail; its other reports have the positions before it. Null for a tail in no
  -- stream: rows of earlier versions.
  add column position bigint;
create index tails_in_stream on metrics.tails (experiment, position) where position is not null;

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
