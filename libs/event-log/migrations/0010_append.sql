-- Whether every commit of a batch holds against what is stored, and none touches what another one of it writes; then also
-- whether it brings a stream into the partition of the next position. A false `holds` only means that the batch has to be gone
-- through commit by commit.
create function log.all_hold(
  head_position bigint,
  commit_ids uuid[], leases text[], epochs bigint[],
  consumers text[], partitions integer[], cursor_positions bigint[], cursor_parts integer[],
  event_commits integer[], event_streams text[], event_versions integer[], event_bodies text[],
  guard_commits integer[], guard_streams text[], guard_versions integer[],
  out holds boolean, out enters boolean
)
language plpgsql
-- A version is the last entry of an index, never the first of a sorted heap, however small the table was when the plan was made.
set enable_sort = off
as $$
declare
  -- The partition of the next position: the newest events of most streams that are written to are there.
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
        select from unnest(commit_ids) as u (id) join log.commits m on m.commit_id = u.id),
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
-- The one way in.
--
-- `log.append` takes a batch of commits and answers each, decided in arrival order: all of a commit or nothing of it, and a
-- refused neighbour changes nothing for the others. Appends run one after the other (a transaction's advisory lock), which
-- is what makes positions gapless and lets no reader see n + 1 before n: a commit is visible before the lock is free.
--
-- Two paths. If every commit of the batch holds against what is stored (the usual case, found out by a few set-based
-- queries), the batch is written at once. Otherwise `log.decide` goes through it commit by commit, and what it lets through is
-- written the same way.
--
-- The source of a commit is that of the role that calls, whatever it came with, and its id is looked for among the commits of
-- that source only.
--
-- The hash of a commit, format 1: SHA-256 of the previous commit's hash (32 bytes; zeros before the first commit), followed
-- by this text in UTF-8, in which <n:s> is a netstring without its comma (length of s in bytes, a colon, s):
--
--   trainyard-commit/1 <position> <events> <time_ms> <commit_id>\n
--   <n:meta>\n
--   <cursor>\n                 "-", or: <partition> <cursor_position> <cursor_part> <n:consumer>
--   and for each event, in order:
--   <version> <id> <SHA-256 of the body's UTF-8, hexadecimal> <n:stream><n:type>\n
--
-- Numbers are decimal without leading zeros, UUIDs and hexadecimal are in lower case. Another format gets another first word.

create or replace function log.append(
  -- One element a commit. Fence and cursor are null where there is none.
  commit_ids uuid[], metas text[],
  leases text[], epochs bigint[],
  consumers text[], partitions integer[], cursor_positions bigint[], cursor_parts integer[],
  -- One element an event, in the order of the commits; `event_commits` is the commit's place from 1, `event_versions` the
  -- version that the event will have.
  event_commits integer[], event_streams text[], event_versions integer[],
  event_ids uuid[], event_types text[], event_bodies text[],
  -- One element a guard, parked event, driven event.
  guard_commits integer[], guard_streams text[], guard_versions integer[],
  park_commits integer[], park_positions bigint[], park_keys text[], park_reasons text[],
  unpark_commits integer[], unpark_positions bigint[]
) returns setof log.append_result
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- Plans that are made once, and that reach `commits` and `streams` by their indexes however small they were when the plan was
-- made: a cached plan outlives the small table.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  ordinals integer[];
  ordered boolean;
  -- Whether the batch is written as it came, and whether `streams` hears of it.
  plain boolean := false;
  enters boolean := true;
  held record;
  source text;
  own_start text;
  meta text;
  meta_before text := '';
  -- Whether the attributes of all commits have their form.
  formed boolean := true;
  decided record;
  extra log.append_result[];
  head record;
  now_ms bigint;
  positions bigint[] := '{}';
  counts integer[] := '{}';
  hashes bytea[] := '{}';
  -- The hash and the position of the last commit so far, and how many there are.
  link bytea;
  tail bigint;
  n integer := 0;
  c record;
begin
  if cardinality(commit_ids) = 1 then
    ordered := 1 = all (event_commits);
  else
    select array_agg(u.event_commit order by u.event_commit) = event_commits
      and count(u.event_commit) = cardinality(event_commits)
      and min(u.event_commit) >= 1 and max(u.event_commit) <= cardinality(commit_ids)
    into ordered
    from unnest(event_commits) as u (event_commit);
  end if;
  if not coalesce(ordered, cardinality(event_commits) = 0) then
    raise exception 'the events of a batch are not in the order of its commits' using errcode = 'invalid_parameter_value';
  end if;

  -- The service of the role that calls: the consumer that it owns, of several the first by name. A role that owns none (in
  -- tests) goes by its own name. A service whose role was renamed still has its source.
  select '/trainyard/' || coalesce(min(o.name), session_user) into source
  from log.owners o where o.kind = 'consumer' and o.role = session_user;
  own_start := '{"source":' || to_json(source) || ',"workspace":';
  -- Neighbours often share their attributes, and nearly all callers give their own source.
  foreach meta in array metas loop
    if starts_with(meta, own_start) then continue; end if;
    metas := array(
      select log.with_source(u.meta, own_start) from unnest(metas) with ordinality as u (meta, place)
      order by u.place);
    exit;
  end loop;
  foreach meta in array metas loop
    if meta is distinct from meta_before and not coalesce(log.is_meta(meta), false) then
      formed := false;
      exit;
    end if;
    meta_before := meta;
  end loop;

  -- Commits without events or parking need no order, hence no lock.
  if cardinality(event_commits) + cardinality(park_commits) + cardinality(unpark_commits) = 0 then
    select coalesce(max(k.position), 0) as position into head
    from (select m.position from log.commits m order by m.position desc limit 1) k;
    select * into decided from log.decide(head.position, source, commit_ids, metas, leases, epochs,
      consumers, partitions, cursor_positions, cursor_parts,
      event_commits, event_streams, event_versions, event_bodies,
      guard_commits, guard_streams, guard_versions,
      park_commits, park_positions, park_keys, park_reasons, unpark_commits, unpark_positions);
    return query select * from unnest(decided.results);
    return;
  end if;

  perform pg_advisory_xact_lock(log.append_lock());
  select m.position, m.time_ms, m.hash into head from log.commits m order by m.position desc limit 1;
  if not found then
    select 0::bigint as position, 0::bigint as time_ms, decode(repeat('00', 32), 'hex') as hash into head;
  end if;
  now_ms := greatest(head.time_ms, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);

  if formed and cardinality(park_commits) + cardinality(unpark_commits) = 0 then
    held := log.all_hold(head.position, commit_ids, leases, epochs,
      consumers, partitions, cursor_positions, cursor_parts,
      event_commits, event_streams, event_versions, event_bodies,
      guard_commits, guard_streams, guard_versions);
    if held.holds then
      plain := true;
      enters := held.enters;
    end if;
  end if;
  if not plain then
    select * into decided from log.decide(head.position, source, commit_ids, metas, leases, epochs,
      consumers, partitions, cursor_positions, cursor_parts,
      event_commits, event_streams, event_versions, event_bodies,
      guard_commits, guard_streams, guard_versions,
      park_commits, park_positions, park_keys, park_reasons, unpark_commits, unpark_positions);
    -- What is to be written stays in the arrays, in the same order, and its commits are counted anew.
    select array_agg(u.ordinal order by u.ordinal),
      array_agg(u.id order by u.ordinal), array_agg(u.meta order by u.ordinal),
      array_agg(case when decided.moves[u.ordinal] then u.consumer end order by u.ordinal),
      array_agg(case when decided.moves[u.ordinal] then u.partition end order by u.ordinal),
      array_agg(case when decided.moves[u.ordinal] then u.at end order by u.ordinal),
      array_agg(case when decided.moves[u.ordinal] then u.part end order by u.ordinal)
    into ordinals, commit_ids, metas, consumers, partitions, cursor_positions, cursor_parts
    from unnest(commit_ids, metas, consumers, partitions, cursor_positions, cursor_parts)
      with ordinality as u (id, meta, consumer, partition, at, part, ordinal)
    where decided.writes[u.ordinal];
    if ordinals is null then
      return query select r.* from unnest(decided.results) r;
      return;
    end if;
    select array_agg(array_position(ordinals, u.event_commit) order by u.place),
      array_agg(u.stream order by u.place),
      array_agg(u.version order by u.place), array_agg(u.id order by u.place),
      array_agg(u.type order by u.place), array_agg(u.body order by u.place)
    into event_commits, event_streams, event_versions, event_ids, event_types, event_bodies
    from unnest(event_commits, event_streams, event_versions, event_ids, event_types, event_bodies)
      with ordinality as u (event_commit, stream, version, id, type, body, place)
    where decided.writes[u.event_commit];
  end if;

  link := head.hash;
  tail := head.position;
  for c in
    select count(*)::integer as events,
      string_agg(concat(u.version, ' ', u.id, ' ',
        encode(sha256(convert_to(u.body, 'UTF8')), 'hex'), ' ',
        octet_length(u.stream), ':', u.stream, octet_length(u.type), ':', u.type, E'\n'),
        '' order by u.place) as lines
    from unnest(event_commits, event_streams, event_versions, event_ids, event_types, event_bodies)
      with ordinality as u (event_commit, stream, version, id, type, body, place)
    group by u.event_commit
    order by u.event_commit
  loop
    n := n + 1;
    tail := tail + c.events;
    link := sha256(link || convert_to(concat(
      'trainyard-commit/1 ', tail, ' ', c.events, ' ', now_ms, ' ', commit_ids[n], E'\n',
      octet_length(metas[n]), ':', metas[n], E'\n',
      case when consumers[n] is null then '-' else concat(partitions[n], ' ', cursor_positions[n], ' ',
        cursor_parts[n], ' ', octet_length(consumers[n]), ':', consumers[n]) end, E'\n',
      c.lines), 'UTF8'));
    positions[n] := tail;
    counts[n] := c.events;
    hashes[n] := link;
  end loop;

  insert into log.commits (position, events, commit_id, time_ms, meta,
    consumer, partition, cursor_position, cursor_part, hash)
  select u.position, u.events, u.id, now_ms, u.meta, u.consumer, u.partition, u.at, u.part, u.hash
  from unnest(positions, counts, commit_ids, metas,
      consumers, partitions, cursor_positions, cursor_parts, hashes)
    as u (position, events, id, meta, consumer, partition, at, part, hash);

  insert into log.events (position, commit_position, version, id, stream, type, body)
  select head.position + u.place, positions[u.event_commit], u.version, u.id, u.stream, u.type, u.body
  from unnest(event_commits, event_streams, event_versions, event_ids, event_types, event_bodies)
    with ordinality as u (event_commit, stream, version, id, type, body, place);

  -- Only a stream that enters a partition changes its row.
  if enters or log.partition_of(tail) > log.partition_of(head.position + 1) then
    insert into log.streams as s (stream, first_partition, last_partition)
    select w.stream, w.first_partition, w.last_partition
    from (
      select u.stream, log.partition_of(head.position + min(u.place)) as first_partition,
        log.partition_of(head.position + max(u.place)) as last_partition
      from unnest(event_streams) with ordinality as u (stream, place)
      group by u.stream
    ) w
    where not exists (
      select from log.streams k where k.stream = w.stream and k.last_partition >= w.last_partition)
    on conflict (stream) do update set last_partition = excluded.last_partition;
  end if;

  -- The next partition is looked after each 65,536 positions: rarely enough to cost nothing, often enough to be tried again.
  if tail >> 16 > head.position >> 16 then
    perform log.ensure_partitions(tail);
  end if;
  perform pg_notify('trainyard_log', tail::text);

  if plain then
    return query
      select u.ordinal::integer, 'committed'::text, u.position, null::jsonb
      from unnest(positions) with ordinality as u (position, ordinal);
  else
    return query
      select r.ordinal, r.outcome, coalesce(w.position, r.position), r.detail
      from unnest(decided.results) r
      left join lateral (
        select u.position from unnest(ordinals, positions) as u (ordinal, position)
        where u.ordinal = r.ordinal
      ) w on true;
  end if;
end
$$;

-- Functions are for everyone unless that is taken back; the runner then grants each service role what it may call.
revoke all on all functions in schema log from public;
