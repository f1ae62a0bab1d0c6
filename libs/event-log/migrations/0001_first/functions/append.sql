-- Appends a batch of commits and returns a result for each, in order. A commit is written as a whole or not at all, and
-- a refused commit does not affect the others. Appends run one after the other under an advisory lock, which is held
-- until the commit is visible. So positions have no gaps, and no reader sees n + 1 before n.
--
-- There are two paths. If every commit of the batch holds against the stored rows (the usual case, which a few
-- set-based queries find out), the batch is written at once. Otherwise `decide` judges it commit by commit, and the
-- accepted commits are written in the same way.
--
-- The source of a commit is that of the calling role, whatever the caller sent, and a commit id is looked up only among
-- the commits of that source.
--
-- A log that went back (a restored backup, a failover with loss) uses positions, versions and epochs again: other
-- events and other holders get numbers that processes know already. So a fence names its owner, and a commit names the
-- newest event that its writer has read. If the log does not have that event, `append` raises TY001.
--
-- The hash of a commit, format 1: SHA-256 of the previous commit's hash (32 bytes; zeros before the first commit),
-- followed by this text in UTF-8, in which <n:s> is a netstring without its comma (length of s in bytes, a colon, s):
--
--   trainyard-commit/1 <position> <events> <time_ms> <commit_id>\n
--   <n:meta>\n
--   <cursor>\n                 "-", or: <partition> <cursor_position> <cursor_part> <n:consumer>
--   and for each event, in order:
--   <version> <id> <SHA-256 of the body's UTF-8, hexadecimal> <n:stream><n:type>\n
--
-- Numbers are decimal without leading zeros, UUIDs and hexadecimal are in lower case. Another format gets another first
-- word.
create function log.append(
  -- One element for each commit. Null without a fence or cursor.
  commit_ids uuid[], metas text[],
  leases text[], epochs bigint[],
  consumers text[], partitions integer[], cursor_positions bigint[], cursor_parts integer[],
  -- One element for each event, in the order of the commits. `event_commits` is the commit's place from 1,
  -- `event_versions` the version that the event will have.
  event_commits integer[], event_streams text[], event_versions integer[],
  event_ids uuid[], event_types text[], event_bodies text[],
  -- One element for each guard, parked event and unparked event.
  guard_commits integer[], guard_streams text[], guard_versions integer[],
  park_commits integer[], park_positions bigint[], park_keys text[], park_reasons text[],
  unpark_commits integer[], unpark_positions bigint[],
  -- One element for each commit: the owner of its fence, and the newest event that its writer has read; null without
  -- one.
  owners text[], seen_positions bigint[], seen_ids uuid[]
) returns setof log.append_result
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- Plans are made once, and read `commits` and `streams` by their indexes: a cached plan is used long after the tables
-- were small.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  ordinals integer[];
  -- Whether the batch is written as it is, and whether `streams` may change.
  plain boolean := false;
  enters boolean := true;
  held record;
  source text;
  own_start text;
  meta text;
  meta_before text;
  -- Whether a commit was sent with another source, and whether all attributes have their form.
  claimed boolean;
  formed boolean;
  decided record;
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
  newest record;
begin
  -- Usually all commits of a batch name the same event. A missing one fails the whole batch; the client then sends each
  -- commit alone, and those that depend on no lost event are written.
  for newest in
    select distinct u.position, u.id from unnest(seen_positions, seen_ids) as u (position, id)
    where u.position is not null
  loop
    if not log.has_event(newest.position, newest.id) then
      raise exception 'it does not have event % at position %', newest.id, newest.position using errcode = 'TY001';
    end if;
  end loop;
  -- A fence of another owner gets epoch 0, which no lease has.
  if cardinality(array_remove(leases, null)) > 0 then
    epochs := array(
      select case when u.lease is null or log.is_of_owner(u.lease, u.owner) then u.epoch else 0 end
      from unnest(leases, epochs, owners) with ordinality as u (lease, epoch, owner, place)
      order by u.place);
  end if;

  -- The service of the calling role: the consumer that it owns, the first by name of several. A role that owns none (in
  -- tests) has its own name as source. A service keeps its source if its role is renamed.
  select '/trainyard/' || coalesce(min(o.name), session_user) into source
  from log.owners o where o.kind = 'consumer' and o.role = session_user;
  own_start := '{"source":' || to_json(source) || ',"workspace":';
  -- Nearly all callers send their own source. Otherwise the source is replaced, and the attributes are checked again.
  loop
    claimed := false;
    formed := true;
    meta_before := '';
    foreach meta in array metas loop
      -- Consecutive commits often share their attributes.
      continue when meta = meta_before;
      claimed := not starts_with(meta, own_start);
      exit when claimed;
      formed := formed and log.is_meta(meta);
      meta_before := meta;
    end loop;
    exit when claimed is not true;
    metas := array(
      select log.with_source(u.meta, own_start) from unnest(metas) with ordinality as u (meta, place)
      order by u.place);
  end loop;

  -- Commits without events or parking need no order, and so no lock.
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
    -- The accepted commits stay in the arrays, in the same order, and are numbered again.
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
    select u.event_commit, count(*)::integer as events, min(u.place) as first_place, max(u.place) as last_place,
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
    -- The hash covers the events of a commit as consecutive rows, so they must be consecutive.
    if c.event_commit <> n or c.first_place <> tail - head.position + 1 or c.last_place <> tail - head.position + c.events then
      raise exception 'the events of a batch are not in the order of its commits' using errcode = 'invalid_parameter_value';
    end if;
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

  -- A stream's row changes only with its first event in a partition.
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

  -- The next partition is ensured every 65,536 positions: rarely enough to cost nothing, often enough for several
  -- attempts.
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
