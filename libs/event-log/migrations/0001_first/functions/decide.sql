-- Judges a batch commit by commit. Commits that write events are only judged here (`writes`). The cursors and the
-- parking of commits without events, and the parking of commits with events, are written here. The arrays are those of
-- `append`.
create function log.decide(
  head_position bigint, source text,
  commit_ids uuid[], metas text[], leases text[], epochs bigint[],
  consumers text[], partitions integer[], cursor_positions bigint[], cursor_parts integer[],
  event_commits integer[], event_streams text[], event_versions integer[], event_bodies text[],
  guard_commits integer[], guard_streams text[], guard_versions integer[],
  park_commits integer[], park_positions bigint[], park_keys text[], park_reasons text[],
  unpark_commits integer[], unpark_positions bigint[],
  out results log.append_result[],
  -- For each commit: whether it is accepted and has events to write, and whether its cursor moves.
  out writes boolean[],
  out moves boolean[]
)
language plpgsql
-- `append` disables hash joins for its own statements; here only the batch is joined with itself.
set enable_hashjoin = on
as $$
declare
  owned constant text[] := array(
    select name from log.owners where kind = 'category' and role = session_user);
  -- Versions and cursors after the earlier commits of this batch.
  versions jsonb;
  cursors jsonb := '{}';
  accepted uuid[] := '{}';
  c record;
  bad record;
  parks boolean;
  forward boolean;
  cursor_key text;
  now_at jsonb;
  verdict log.append_result;
begin
  results := '{}';
  writes := '{}';
  moves := '{}';
  select coalesce(jsonb_object_agg(t.stream, log.stored_version(t.stream)), '{}') into versions
  from (select unnest(event_streams) as stream union select unnest(guard_streams)) t
  where t.stream is not null;

  for c in
    select b.*, e.wanted, e.events, e.longest, e.streams, e.broken, g.guards
    from unnest(commit_ids, metas, leases, epochs, consumers, partitions, cursor_positions, cursor_parts)
      with ordinality as b (commit_id, meta, lease, epoch, consumer, partition, at, part, ordinal)
    left join (
      select w.commit, sum(w.events)::bigint as events, max(w.longest) as longest, count(*) as streams,
        bool_or(w.last - w.first + 1 <> w.events or w.first < 1 or not w.ordered) as broken,
        jsonb_agg(jsonb_build_array(w.stream, w.first - 1, w.last) order by w.place) as wanted
      from (
        select u.commit, u.stream, min(u.version) as first, max(u.version) as last,
          count(*) as events, max(octet_length(u.body)) as longest, min(u.place) as place,
          min(u.version - u.place) = max(u.version - u.place) as ordered
        from unnest(event_commits, event_streams, event_versions, event_bodies)
          with ordinality as u (commit, stream, version, body, place)
        group by u.commit, u.stream
      ) w
      group by w.commit
    ) e on e.commit = b.ordinal
    left join (
      select u.commit, jsonb_agg(jsonb_build_array(u.stream, u.version) order by u.place) as guards
      from unnest(guard_commits, guard_streams, guard_versions)
        with ordinality as u (commit, stream, version, place)
      group by u.commit
    ) g on g.commit = b.ordinal
    order by b.ordinal
  loop
    parks := c.ordinal = any (park_commits) or c.ordinal = any (unpark_commits);
    cursor_key := c.consumer || '/' || c.partition;
    verdict := log.repeat_of(c.ordinal::integer, source, c.commit_id, c.consumer, c.partition);
    <<judge>>
    begin
      exit judge when verdict.outcome is not null;
      if c.commit_id = any (accepted) then
        -- The first one is in this batch: its result is known only after the batch is written.
        verdict := row(c.ordinal, 'repeated', null, null)::log.append_result;
        exit judge;
      end if;
      verdict := log.refusal_of(c.ordinal::integer, owned, c.events, c.streams, c.longest, c.broken,
        c.meta, c.wanted, c.consumer, c.at, parks, head_position);
      exit judge when verdict.outcome is not null;

      if c.lease is not null and not log.fence_holds(c.lease, c.epoch) then
        verdict := row(c.ordinal, 'stale_fence', 0, null)::log.append_result;
        exit judge;
      end if;

      forward := false;
      if c.consumer is not null then
        now_at := cursors -> cursor_key;
        if now_at is null then
          select jsonb_build_array(k.position, k.part) into now_at
          from log.current_cursor(c.consumer, c.partition) k;
        end if;
        forward := (c.at, c.part) > ((now_at ->> 0)::bigint, (now_at ->> 1)::integer);
        if not forward and c.ordinal <> all (unpark_commits) then
          verdict := (c.ordinal, 'cursor_behind', 0,
            jsonb_build_object('position', now_at -> 0, 'part', now_at -> 1));
          exit judge;
        end if;
      end if;

      select t.* into bad
      from (
        select 0 as pass, w.place, w.item ->> 0 as stream, (w.item ->> 1)::integer as expected
        from jsonb_array_elements(c.wanted) with ordinality as w (item, place)
        union all
        select 1, g.place, g.item ->> 0, (g.item ->> 1)::integer
        from jsonb_array_elements(c.guards) with ordinality as g (item, place)
      ) t
      where t.expected <> coalesce((versions ->> t.stream)::integer, 0)
      order by t.pass, t.place
      limit 1;
      if found then
        verdict := (c.ordinal, 'conflict', 0, jsonb_build_object(
          'stream', bad.stream,
          'expected', bad.expected,
          'actual', coalesce((versions ->> bad.stream)::integer, 0)));
        exit judge;
      end if;
    end;

    if verdict.outcome is not null then
      results := results || verdict;
      writes := writes || false;
      moves := moves || false;
      continue;
    end if;

    accepted := accepted || c.commit_id;
    if forward then
      cursors := cursors || jsonb_build_object(cursor_key, jsonb_build_array(c.at, c.part));
    end if;
    if parks then
      perform log.park(c.ordinal::integer, c.consumer, c.partition,
        park_commits, park_positions, park_keys, park_reasons, unpark_commits, unpark_positions);
    end if;
    if c.wanted is null then
      if forward then
        perform log.write_cursor(c.consumer, c.partition, c.at, c.part, c.commit_id);
      end if;
    else
      head_position := head_position + c.events;
      select versions || jsonb_object_agg(w.item ->> 0, w.item -> 2) into versions
      from jsonb_array_elements(c.wanted) as w (item);
    end if;
    verdict := row(c.ordinal, 'committed', 0, null)::log.append_result;
    results := results || verdict;
    writes := writes || (c.wanted is not null);
    moves := moves || forward;
  end loop;
end
$$;
