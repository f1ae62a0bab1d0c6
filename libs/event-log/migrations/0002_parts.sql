-- What the functions that follow share.

create type log.append_result as (
  -- The commit's place in the batch, from 1.
  ordinal integer,
  -- committed, repeated, conflict, stale_fence, cursor_behind, refused
  outcome text,
  -- The position of the commit's last event; 0 where it wrote none.
  position bigint,
  -- What the other outcomes have to say.
  detail jsonb
);

create function log.append_lock() returns bigint
language sql immutable parallel safe
-- "trainlog" in ASCII.
as $$ select x'747261696e6c6f67'::bigint $$;

create function log.may(wanted_kind text, wanted_name text) returns boolean
language sql stable
as $$
  select exists (
    select from log.owners where kind = wanted_kind and name = wanted_name and role = session_user
  )
$$;

-- How far a consumer has come: by the last commit that carried its cursor, or by a later move that caused nothing.
create function log.current_cursor(of_consumer text, of_partition integer,
  out "position" bigint, out part integer)
language sql stable
as $$
  select c.position, c.part
  from (
    (
      select m.cursor_position as position, m.cursor_part as part
      from log.commits m
      where m.consumer = of_consumer and m.partition = of_partition
      order by m.position desc
      limit 1
    )
    union all
    select l.position, l.part from log.cursors l
    where l.consumer = of_consumer and l.partition = of_partition
    union all
    select 0, 0
  ) c
  order by c.position desc, c.part desc
  limit 1
$$;

-- Writes the row of a cursor whose move caused nothing. False when it is not forward.
create function log.write_cursor(of_consumer text, of_partition integer, to_position bigint,
  to_part integer, by_commit uuid) returns boolean
language plpgsql
as $$
declare
  now_at record;
begin
  select * into now_at from log.current_cursor(of_consumer, of_partition);
  if (to_position, to_part) <= (now_at.position, now_at.part) then
    return false;
  end if;
  insert into log.cursors as c (consumer, partition, position, part, commit_id)
  values (of_consumer, of_partition, to_position, to_part, by_commit)
  on conflict (consumer, partition) do update
    set position = excluded.position, part = excluded.part, commit_id = excluded.commit_id
    where (c.position, c.part) < (excluded.position, excluded.part);
  return found;
end
$$;

-- Whether the epoch is current, and stays so until this transaction ends: taking a lease over waits for it.
create function log.fence_holds(of_lease text, of_epoch bigint) returns boolean
language plpgsql
as $$
begin
  perform from log.leases where lease = of_lease and epoch = of_epoch for share;
  return found;
end
$$;
