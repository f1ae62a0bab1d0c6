-- The log: what was decided, in one order, for ever.
--
-- A commit is the unit of everything: it has one position (that of its last event), one hash, one set of attributes.
-- The head of the log is the last row of `commits`. There is no head row that every commit would update: under one long
-- snapshot its dead versions pile up and appends collapse. For the same reason a cursor that moves with events lives in
-- its commit's row, and only moves that caused nothing update a row in `cursors`.

create table log.commits (
  -- The position of the commit's last event; its first is position - events + 1.
  position bigint primary key check (position > 0),
  events integer not null check (events > 0),
  commit_id uuid not null unique,
  -- Milliseconds since 1970; never decreases along positions.
  time_ms bigint not null,
  -- The attributes that its events share, as the exact text of a JSON object of strings: source, workspace, correlationid,
  -- causationid, authid, traceparent.
  meta text not null,
  -- The reaction's progress that this commit carried, if it was one.
  consumer text collate "C",
  partition integer,
  cursor_position bigint,
  cursor_part integer,
  hash bytea not null
);
create index commits_cursor on log.commits (consumer, partition, position) where consumer is not null;

create table log.events (
  position bigint not null,
  -- The position of the commit, which is that of its last event.
  commit_position bigint not null,
  version integer not null,
  id uuid not null,
  stream text collate "C" not null,
  type text collate "C" not null,
  -- The exact text of the event's proto JSON. Erased by law: null, and its SHA-256 stays, so that the chain still holds.
  body text,
  erased bytea,
  primary key (position),
  check ((body is null) = (erased is not null))
) partition by range (position);
create index events_stream on log.events (stream, version);

-- The versions, one row a stream. Room on each page lets most updates stay on it, without touching the index.
create table log.streams (
  stream text collate "C" primary key,
  version integer not null check (version > 0)
) with (fillfactor = 60);

create table log.cursors (
  consumer text collate "C" not null,
  partition integer not null,
  position bigint not null,
  part integer not null,
  -- The commit without events that moved it last, so that its repeat is recognised; null after a lazy move.
  commit_id uuid,
  primary key (consumer, partition)
) with (fillfactor = 50);

create table log.parked (
  consumer text collate "C" not null,
  partition integer not null,
  position bigint not null,
  key text not null,
  reason text not null,
  parked_at_ms bigint not null,
  primary key (consumer, partition, position)
);

create table log.leases (
  lease text collate "C" primary key,
  -- Empty once it was given up.
  owner text not null,
  epoch bigint not null,
  expires_at timestamptz not null
) with (fillfactor = 50);

-- The roles: each row lets a role append to a category, or move, park and lease for a consumer.
create table log.owners (
  kind text not null check (kind in ('category', 'consumer')),
  name text collate "C" not null,
  role name not null,
  primary key (kind, name)
);

create table log.snapshots (
  stream text collate "C" not null,
  schema text collate "C" not null,
  version integer not null,
  body text not null,
  saved_at_ms bigint not null,
  primary key (stream, schema)
);

create function log.partition_size() returns bigint
language sql immutable parallel safe
as $$ select 10000000::bigint $$;

-- Makes sure that the partitions of the next `partition_size() / 2` positions exist. A partition is built beside and then
-- attached, which blocks neither readers nor writers; should the lock not come at once, a later call tries again.
create function log.ensure_partitions(after_position bigint) returns void
language plpgsql
as $$
declare
  size constant bigint := log.partition_size();
  lock_timeout_before constant text := current_setting('lock_timeout');
  partition_name text;
begin
  for number in after_position / size .. (after_position + size / 2) / size loop
    partition_name := format('events_p%s', lpad(number::text, 6, '0'));
    continue when to_regclass('log.' || partition_name) is not null;
    begin
      perform set_config('lock_timeout', '500ms', true);
      execute format(
        'create table log.%I (like log.events including all,
           constraint bounds check (position > %s and position <= %s))',
        partition_name, number * size, (number + 1) * size);
      execute format(
        'alter table log.events attach partition log.%I for values from (%s) to (%s)',
        partition_name, number * size + 1, (number + 1) * size + 1);
      execute format('alter table log.%I drop constraint bounds', partition_name);
      perform set_config('lock_timeout', lock_timeout_before, true);
    exception
      -- The setting goes back with everything else that this block did.
      when lock_not_available then null;
    end;
  end loop;
end
$$;

select log.ensure_partitions(0);
select log.ensure_partitions(log.partition_size());
