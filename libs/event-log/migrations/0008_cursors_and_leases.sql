-- Cursors and leases, each looked up by the newest entry of its index (0006).

-- How far a consumer has come: by the last commit that carried its cursor, or by a later move that caused nothing.
create or replace function log.current_cursor(of_consumer text, of_partition integer,
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
    (
      select l.position, l.part
      from log.cursors l
      where l.consumer = of_consumer and l.partition = of_partition
      order by l.position desc, l.part desc
      limit 1
    )
    union all
    select 0, 0
  ) c
  order by c.position desc, c.part desc
  limit 1
$$;

-- Writes the row of a cursor whose move caused nothing. False when it is not forward.
create or replace function log.write_cursor(of_consumer text, of_partition integer, to_position bigint,
  to_part integer, by_commit uuid) returns boolean
language plpgsql
as $$
declare
  now_at record;
  stored record;
begin
  loop
    select * into now_at from log.current_cursor(of_consumer, of_partition);
    if (to_position, to_part) <= (now_at.position, now_at.part) then
      return false;
    end if;
    select k.position, k.part into stored
    from log.cursors k
    where k.consumer = of_consumer and k.partition = of_partition
    order by k.position desc, k.part desc
    limit 1;
    if not found then
      -- Two first moves at once leave two rows, of which the one that is behind is never looked at.
      insert into log.cursors (consumer, partition, position, part, commit_id)
      values (of_consumer, of_partition, to_position, to_part, by_commit);
      return true;
    end if;
    update log.cursors k
    set position = to_position, part = to_part, commit_id = by_commit
    where k.consumer = of_consumer and k.partition = of_partition
      and k.position = stored.position and k.part = stored.part;
    if found then
      return true;
    end if;
    -- It was moved meanwhile: look again.
  end loop;
end
$$;

-- Whether the epoch is current, and stays so until this transaction ends: taking a lease over waits for it.
create or replace function log.fence_holds(of_lease text, of_epoch bigint) returns boolean
language plpgsql
as $$
declare
  current_epoch bigint;
begin
  select l.epoch into current_epoch
  from log.leases l
  where l.lease = of_lease
  order by l.epoch desc, l.expires_at desc
  limit 1
  for share;
  return found and current_epoch = of_epoch;
end
$$;

-- Whether somebody holds a lease. One that ends later than its holder could have asked for was granted by a clock that was
-- ahead of this one, on a primary that is no more perhaps: it counts as over, or a dead holder would keep it for as long as
-- the clocks differ. A holder that lives takes it again at its next renewal, or finds that another one did.
create function log.is_held(owner text, expires_at timestamptz, ttl_ms integer) returns boolean
language sql volatile
as $$
  select owner <> '' and expires_at > clock_timestamp()
    and expires_at <= clock_timestamp() + make_interval(secs => ttl_ms / 1000.0)
$$;

-- Takes, keeps or takes over a lease, by this database's clock; no row while another owner's has not expired. A lease belongs
-- to the consumer that its name begins with, up to the slash. A new epoch waits for the append that runs, so that an append
-- under an old epoch is either before the takeover (and seen by the new holder) or refused.
create or replace function log.acquire_lease(of_lease text, new_owner text, ttl_ms integer)
returns table (epoch bigint, remaining_ms double precision)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  held record;
  known boolean;
  ends_at timestamptz;
begin
  if not log.may('consumer', split_part(of_lease, '/', 1)) then
    raise insufficient_privilege using message = format('%s does not own the lease %s', session_user, of_lease);
  end if;
  select l.* into held from log.leases l
  where l.lease = of_lease
  order by l.epoch desc, l.expires_at desc
  limit 1;
  known := found;
  if known and held.owner = new_owner then
    ends_at := clock_timestamp() + make_interval(secs => acquire_lease.ttl_ms / 1000.0);
    update log.leases l set expires_at = ends_at, ttl_ms = acquire_lease.ttl_ms
      where l.lease = of_lease and l.epoch = held.epoch and l.expires_at = held.expires_at and l.owner = new_owner
      returning l.epoch into epoch;
    if found then
      remaining_ms := acquire_lease.ttl_ms;
      return next;
      return;
    end if;
  end if;
  -- A look before the lock: standbys ask every second, and must not queue behind appends to hear no.
  if known and held.owner <> new_owner
    and log.is_held(held.owner, held.expires_at, coalesce(held.ttl_ms, acquire_lease.ttl_ms)) then
    return;
  end if;
  perform pg_advisory_xact_lock(log.append_lock());
  select l.* into held from log.leases l
  where l.lease = of_lease
  order by l.epoch desc, l.expires_at desc
  limit 1
  for update;
  known := found;
  ends_at := clock_timestamp() + make_interval(secs => acquire_lease.ttl_ms / 1000.0);
  if not known then
    epoch := 1;
    insert into log.leases (lease, owner, epoch, expires_at, ttl_ms)
    values (of_lease, new_owner, 1, ends_at, acquire_lease.ttl_ms);
  elsif held.owner <> new_owner
    and log.is_held(held.owner, held.expires_at, coalesce(held.ttl_ms, acquire_lease.ttl_ms)) then
    return;
  else
    epoch := held.epoch + case when held.owner = new_owner then 0 else 1 end;
    update log.leases l
    set owner = new_owner, epoch = acquire_lease.epoch, expires_at = ends_at, ttl_ms = acquire_lease.ttl_ms
    where l.lease = of_lease and l.epoch = held.epoch and l.expires_at = held.expires_at;
  end if;
  remaining_ms := acquire_lease.ttl_ms;
  return next;
end
$$;

create or replace function log.release_lease(of_lease text, old_owner text) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  held record;
begin
  if not log.may('consumer', split_part(of_lease, '/', 1)) then
    raise insufficient_privilege using message = format('%s does not own the lease %s', session_user, of_lease);
  end if;
  select l.* into held from log.leases l
  where l.lease = of_lease
  order by l.epoch desc, l.expires_at desc
  limit 1
  for update;
  if found and held.owner = old_owner then
    -- Its end stays: a row that is not held needs none, and the newest entry stays the newest.
    update log.leases l set owner = ''
    where l.lease = of_lease and l.epoch = held.epoch and l.expires_at = held.expires_at;
  end if;
end
$$;
