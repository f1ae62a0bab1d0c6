-- The log: every event, in one order.
--
-- A commit has one position (that of its last event), one hash and one set of attributes. The head of the log is the
-- last row of `commits`.
--
-- The cost of an append must not depend on how long other snapshots are open. An open snapshot keeps every dead version
-- of an updated row, and its index entries with the same key, so a lookup of a frequently updated row reads all of
-- them. Therefore:
--
-- - No head row is updated by each commit, and a cursor that moves with events is part of its commit's row. Only moves
--   without events update a row in `cursors`.
-- - A stream's version is not stored: it is the version of the stream's newest event. The row of a stream changes only
--   when the stream gets its first event in another partition of `events`.
-- - The indexes of `cursors` and `leases` contain the columns that move, in ascending order. A lookup takes the newest
--   entry and never reads the dead entries before it.

create table log.commits (
  -- The position of the commit's last event; its first event is at position - events + 1.
  position bigint primary key check (position > 0),
  events integer not null check (events > 0),
  commit_id uuid not null,
  -- Milliseconds since 1970; never less than that of an earlier commit.
  time_ms bigint not null,
  -- The attributes that its events share, as the exact text of a JSON object of strings: source, workspace,
  -- correlationid, causationid, authid, traceparent.
  meta text not null,
  -- The cursor that this commit moved; null if it moved none.
  consumer text collate "C",
  partition integer,
  cursor_position bigint,
  cursor_part integer,
  hash bytea not null
);
create index commits_cursor on log.commits (consumer, partition, position) where consumer is not null;
-- A commit id belongs to the service that wrote it: the source, which is the fourth part of
-- `{"source":"/trainyard/metrics",…` between quotes. The same id of another service is another commit, so nobody gains
-- by knowing an id that a service will use.
create unique index commits_id on log.commits (commit_id, split_part(meta, '"', 4));

create table log.events (
  position bigint not null,
  -- The position of the commit, which is that of its last event.
  commit_position bigint not null,
  version integer not null,
  id uuid not null,
  stream text collate "C" not null,
  type text collate "C" not null,
  -- The exact text of the event's proto JSON. If an event must be erased by law, the body becomes null and its SHA-256
  -- is kept in `erased`, so that the hashes of the commits can still be verified.
  body text,
  erased bytea,
  primary key (position),
  check ((body is null) = (erased is not null))
) partition by range (position);
create index events_stream on log.events (stream, version);

-- The places of each stream's first and newest event, as numbers of partitions of `events`.
create table log.streams (
  stream text collate "C" primary key,
  first_partition integer not null check (first_partition >= 0),
  last_partition integer not null check (last_partition >= first_partition)
);

create table log.cursors (
  consumer text collate "C" not null,
  partition integer not null,
  position bigint not null,
  part integer not null,
  -- The commit without events that moved the cursor last, so that its repeat is recognised; null after a lazy move.
  commit_id uuid
) with (fillfactor = 50);
create index cursors_newest on log.cursors (consumer, partition, position, part);

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
  lease text collate "C" not null,
  -- Empty after the lease was released.
  owner text not null,
  epoch bigint not null,
  expires_at timestamptz not null,
  -- The duration that the holder requested.
  ttl_ms integer not null
) with (fillfactor = 50);
create index leases_newest on log.leases (lease, epoch, expires_at);

-- The roles: a row lets a role append to a category, or move, park and lease for a consumer.
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

-- The result of one commit of a batch.
create type log.append_result as (
  -- The commit's place in the batch, from 1.
  ordinal integer,
  -- committed, repeated, conflict, stale_fence, cursor_behind, refused
  outcome text,
  -- The position of the commit's last event; 0 if it wrote none.
  position bigint,
  -- The facts of the other outcomes.
  detail jsonb
);
