-- What a commit rests on. A log that goes back (a backup that was restored, a failover with loss) counts positions, versions
-- and epochs again from where it is: other events and other holders get the numbers that processes know. So a fence names
-- its owner, and a commit or a cursor's move the newest event that its writer has seen.
--
-- `append` and `move_cursor` have a second form with these arguments. Programs of before call the first one.

-- Whether the log has this event there; then it has everything before it as well, and unchanged.
create function log.has_event(at bigint, of_id uuid) returns boolean
language plpgsql stable
as $$
declare
  -- The bounds are variables, so that the other partitions are left out before the plan starts.
  before_first constant bigint := (at - 1) / log.partition_size() * log.partition_size();
  last constant bigint := before_first + log.partition_size();
begin
  perform from log.events e
  where e.position = at and e.id = of_id and e.position > before_first and e.position <= last;
  return found;
end
$$;

-- Whether the newest entry of a lease is this owner's. One that was given up, and that nobody has taken over yet, is
-- everybody's: its epoch says whose.
create function log.is_of_owner(of_lease text, of_owner text) returns boolean
language plpgsql stable
as $$
declare
  current_owner text;
begin
  select l.owner into current_owner
  from log.leases l
  where l.lease = of_lease
  order by l.epoch desc, l.expires_at desc
  limit 1;
  return found and current_owner in ('', of_owner);
end
$$;

create function log.append(
  commit_ids uuid[], metas text[],
  leases text[], epochs bigint[],
  consumers text[], partitions integer[], cursor_positions bigint[], cursor_parts integer[],
  event_commits integer[], event_streams text[], event_versions integer[],
  event_ids uuid[], event_types text[], event_bodies text[],
  guard_commits integer[], guard_streams text[], guard_versions integer[],
  park_commits integer[], park_positions bigint[], park_keys text[], park_reasons text[],
  unpark_commits integer[], unpark_positions bigint[],
  -- One element a commit: of its fence, and the event that it rests on; null where there is none.
  owners text[], seen_positions bigint[], seen_ids uuid[]
) returns setof log.append_result
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- The plan is generic as in 0010: a cached plan outlives the small table.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  s record;
begin
  -- Nearly always one. The batch fails as a whole, and is sent again commit by commit: what rests on nothing lost is written.
  for s in
    select distinct u.position, u.id from unnest(seen_positions, seen_ids) as u (position, id)
    where u.position is not null
  loop
    if not log.has_event(s.position, s.id) then
      raise exception 'it does not have event % at position %', s.id, s.position using errcode = 'TY001';
    end if;
  end loop;
  -- No lease has an epoch below 1. That an epoch does not change its owner within one history, `acquire_lease` sees to.
  epochs := array(
    select case when u.lease is null or log.is_of_owner(u.lease, u.owner) then u.epoch else 0 end
    from unnest(leases, epochs, owners) with ordinality as u (lease, epoch, owner, place)
    order by u.place);
  return query select * from log.append(commit_ids, metas, leases, epochs,
    consumers, partitions, cursor_positions, cursor_parts,
    event_commits, event_streams, event_versions, event_ids, event_types, event_bodies,
    guard_commits, guard_streams, guard_versions,
    park_commits, park_positions, park_keys, park_reasons, unpark_commits, unpark_positions);
end
$$;

-- Moves a cursor that caused nothing: moved, behind, stale_fence, not_owner, beyond_head or log_rewound.
create function log.move_cursor(of_consumer text, of_partition integer, to_position bigint, to_part integer,
  of_lease text, of_epoch bigint, of_owner text, seen_position bigint, seen_id uuid) returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- The plan is generic as in 0010: a cached plan outlives the small table.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
begin
  if seen_position is not null and not log.has_event(seen_position, seen_id) then
    return 'log_rewound';
  end if;
  if of_lease is not null and not log.is_of_owner(of_lease, of_owner) then
    return 'stale_fence';
  end if;
  return log.move_cursor(of_consumer, of_partition, to_position, to_part, of_lease, of_epoch);
end
$$;

-- Functions are for everyone unless that is taken back; the runner then grants each service role what it may call.
revoke all on all functions in schema log from public;
