-- Moves a cursor without a commit. Returns moved, behind, stale_fence, not_owner, beyond_head, or log_rewound if the
-- log does not have the event that the caller has read.
create function log.move_cursor(of_consumer text, of_partition integer, to_position bigint, to_part integer,
  of_lease text, of_epoch bigint, of_owner text, seen_position bigint, seen_id uuid) returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- The plan is generic as in `append`.
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
  if not log.may('consumer', of_consumer) then
    return 'not_owner';
  end if;
  if of_lease is not null and not log.fence_holds(of_lease, of_epoch) then
    return 'stale_fence';
  end if;
  if to_position > (
    select coalesce(max(c.position), 0)
    from (select m.position from log.commits m order by m.position desc limit 1) c
  ) then
    return 'beyond_head';
  end if;
  if log.write_cursor(of_consumer, of_partition, to_position, to_part, null) then
    return 'moved';
  end if;
  return 'behind';
end
$$;
