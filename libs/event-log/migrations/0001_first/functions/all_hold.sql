-- Returns whether every commit of a batch can be accepted as it is: each holds against the stored rows, and none
-- depends on another commit of the batch. Then also whether the batch has a stream's first event in the partition of
-- the next position. If `holds` is false, `decide` judges the batch commit by commit.
--
-- Each commit id is looked up in a lateral subquery with a limit, which cannot become a join. In a plan that was made
-- before the table was analysed, a join would read the whole index for each batch.
create function log.all_hold(
  head_position bigint,
  commit_ids uuid[], leases text[], epochs bigint[],
  consumers text[], partitions integer[], cursor_positions bigint[], cursor_parts integer[],
  event_commits integer[], event_streams text[], event_versions integer[], event_bodies text[],
  guard_commits integer[], guard_streams text[], guard_versions integer[],
  out holds boolean, out enters boolean
)
language plpgsql
-- Finds a version by the last entry of the index, even if the plan was made while the table was small.
set enable_sort = off
as $$
declare
  -- The partition of the next position: it has the newest events of most streams.
  before_first constant bigint := head_position / log.partition_size() * log.partition_size();
  last constant bigint := before_first + log.partition_size();
begin
  select bool_and(w.before = coalesce(n.version, log.stored_version(w.stream)) and w.sound)
      and count(*) = count(distinct w.stream)
      and count(distinct w.event_commit) = cardinality(commit_ids)
      and (count(*) <= 256 or not exists (
        select from unnest(event_commits, event_streams) as u (event_commit, stream)
        group by u.event_commit having count(distinct u.stream) > 256))
      and (cardinality(commit_ids) = 1 or (
        select count(*) = count(distinct u.id) from unnest(commit_ids) as u (id)))
      and not exists (
        select from unnest(commit_ids) as u (id)
          cross join lateral (select from log.commits m where m.commit_id = u.id limit 1) m),
    bool_or(n.version is null)
  into holds, enters
  from (
    select u.event_commit, u.stream, min(u.version) - 1 as before,
      max(u.version) - min(u.version) + 1 = count(*)
        and min(u.version - u.place) = max(u.version - u.place)
        and max(octet_length(u.body)) <= 262144
        and strpos(u.stream, '-') > 1
        and split_part(u.stream, '-', 1) = any (array(
          select o.name from log.owners o where o.kind = 'category' and o.role = session_user))
        as sound
    from unnest(event_commits, event_streams, event_versions, event_bodies)
      with ordinality as u (event_commit, stream, version, body, place)
    group by u.event_commit, u.stream
  ) w
  left join lateral (
    select e.version
    from log.events e
    where e.stream = w.stream and e.position > before_first and e.position <= last
    order by e.version desc
    limit 1
  ) n on true;
  if not holds then return; end if;

  if cardinality(guard_commits) > 0 then
    select not exists (
      select unnest(guard_streams) intersect select unnest(event_streams)
    ) and not exists (
      select from unnest(guard_streams, guard_versions) as g (stream, version)
      left join lateral (
        select e.version
        from log.events e
        where e.stream = g.stream and e.position > before_first and e.position <= last
        order by e.version desc
        limit 1
      ) n on true
      where g.version <> coalesce(n.version, log.stored_version(g.stream))
    ) into holds;
    if not holds then return; end if;
  end if;

  if cardinality(array_remove(leases, null)) > 0 then
    select not exists (
      select from (select distinct u.lease, u.epoch from unnest(leases, epochs) as u (lease, epoch)) f
      where f.lease is not null
        and f.epoch is distinct from (
          select l.epoch from log.leases l where l.lease = f.lease
          order by l.epoch desc, l.expires_at desc
          limit 1)
    ) into holds;
    if not holds then return; end if;
  end if;

  if cardinality(array_remove(consumers, null)) > 0 then
    select count(*) = count(distinct (u.consumer, u.partition))
      and bool_and((u.at, u.part) > (k.position, k.part)
        and u.at <= head_position and log.may('consumer', u.consumer))
    into holds
    from unnest(consumers, partitions, cursor_positions, cursor_parts)
        as u (consumer, partition, at, part)
      cross join lateral log.current_cursor(u.consumer, u.partition) k
    where u.consumer is not null;
  end if;
end
$$;
