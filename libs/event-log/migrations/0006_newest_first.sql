-- What a commit looks up must cost the same under a snapshot that stays open for hours as without one. Such a snapshot keeps
-- every dead version of an updated row, and the index entries of the same key with it, so that looking up a hot row goes past
-- all of them. Two remedies:
--
-- A stream's version is not stored: it is that of the newest entry of the stream in its newest partition of `events`. What is
-- stored of a stream changes only when it enters a partition.
--
-- Cursors and leases move often. Their indexes hold what moves, ascending, and each look takes the newest entry: the dead ones
-- lie behind it and are never visited.

create function log.partition_of(of_position bigint) returns integer
language sql immutable parallel safe
as $$ select ((of_position - 1) / log.partition_size())::integer $$;

create table log.stream_places (
  stream text collate "C" primary key,
  -- The numbers of the partitions of `events` that hold its first and its newest event.
  first_partition integer not null check (first_partition >= 0),
  last_partition integer not null check (last_partition >= first_partition)
);
insert into log.stream_places (stream, first_partition, last_partition)
select e.stream, min(log.partition_of(e.position)), max(log.partition_of(e.position))
from log.events e
group by e.stream;
drop table log.streams;
alter table log.stream_places rename to streams;

alter table log.cursors drop constraint cursors_pkey;
create index cursors_newest on log.cursors (consumer, partition, position, part);

alter table log.leases drop constraint leases_pkey;
-- How long the holder asked for; null for a lease from before this was kept.
alter table log.leases add column ttl_ms integer;
create index leases_newest on log.leases (lease, epoch, expires_at);

-- A commit id belongs to the service that wrote it: the fourth part of `{"source":"/trainyard/metrics",…` between quotes. The
-- same id of another service is another commit, so knowing an id that a service is going to use is worth nothing.
alter table log.commits drop constraint commits_commit_id_key;
create unique index commits_id on log.commits (commit_id, split_part(meta, '"', 4));
