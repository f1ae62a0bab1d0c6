-- The order in which lines are stored, and the cursor of readers. A position is drawn while the writer holds the service's
-- advisory lock, so a reader that sees a position sees all lower ones.
create sequence logs.line_positions as bigint;

-- Each line once. Partitioned by experiment: every read names one, and its lines are deleted together. The lines of a
-- task have its id, such as t12, as experiment and as trial.
create table logs.lines (
  experiment text collate "C" not null,
  trial text collate "C" not null,
  run integer not null,
  node_rank integer not null,
  -- Counted by the agent: increases by one with each line of a node of a run.
  sequence bigint not null,
  position bigint not null default nextval('logs.line_positions'),
  -- Milliseconds since 1970, the agent's clock.
  at_ms double precision not null,
  -- The number of trainyard.command.v1.LogSource.
  source smallint not null,
  -- True if the text continues in the next line.
  continued boolean not null,
  -- The text, which cannot contain U+0000: U+0000 is written as U+0001 and "0", and U+0001 as U+0001 and "1".
  line text not null,
  -- The rank of the process, which its launcher writes before each line; null without one.
  rank integer,
  -- The number of trainyard.command.v1.LogLevel; 0 if the text states none.
  level smallint not null,
  -- Milliseconds since 1970, the database's clock.
  received_ms double precision not null,
  primary key (experiment, trial, run, node_rank, sequence)
) partition by hash (experiment);

create index lines_of_experiments on logs.lines (experiment, position);
create index lines_of_trials on logs.lines (experiment, trial, position);

do $$
begin
  for part in 0..15 loop
    execute format(
      'create table logs.lines_%s partition of logs.lines for values with (modulus 16, remainder %s)', part, part);
  end loop;
end $$;

-- The runs that have lines, and the event AllocationGranted of each. Another run of a lost history may have had the name.
create table logs.runs (
  trial text collate "C" not null,
  run integer not null,
  grant_position bigint not null,
  grant_id text collate "C" not null,
  primary key (trial, run)
);
create index runs_by_grant on logs.runs (grant_position, trial, run);

-- The log of these tables, and an event of it: the grants of all runs up to there were found in the log.
create table logs.proven (
  one boolean primary key default true check (one),
  -- The id of the log's first event.
  log text not null,
  position bigint not null,
  id text not null
);

-- Every experiment or task that has lines, or whose lines were removed by retention.
create table logs.experiments (
  experiment text collate "C" primary key,
  -- The bytes of the text of its lines.
  bytes bigint not null default 0,
  removed_lines bigint not null default 0,
  -- When the last removed line was received, in milliseconds since 1970.
  removed_until_ms double precision,
  -- True if all of its lines are removed: retention skips it until it has new ones.
  gone boolean not null default false,
  -- The bytes of the text that was stored since the last chunk of words.
  unindexed_bytes bigint not null default 0
);

-- The words of some thousand consecutive lines of an experiment, as a Bloom filter (src/core/word-filter.ts): a search for
-- words skips the chunks that lack one of them. A chunk is made after its lines are stored; a search reads the lines that
-- are not in a chunk yet.
create table logs.word_chunks (
  experiment text collate "C" not null,
  -- The positions of the first line and of the last. A chunk has all lines of its experiment since the chunk before it.
  first_position bigint not null,
  last_position bigint not null,
  words bytea not null,
  primary key (experiment, first_position)
);
-- Stored uncompressed, because a search reads a few bytes of each filter.
alter table logs.word_chunks alter column words set storage external;

-- The facts about each experiment and task that retention needs, as far as the cursor has read the log.
create table logs.lives (
  id text collate "C" primary key,
  -- The retention of the configuration.
  policy jsonb not null,
  -- Milliseconds since 1970; null while it runs.
  ended_ms double precision,
  -- none, asked (it can still be undone) or done.
  deletion text collate "C" not null
);
create table logs.lives_cursor (
  one boolean primary key default true check (one),
  position bigint not null,
  -- The id of the event at the position: a log that went back has another one there, or none.
  event text not null
);
insert into logs.lives_cursor (position, event) values (0, '');
