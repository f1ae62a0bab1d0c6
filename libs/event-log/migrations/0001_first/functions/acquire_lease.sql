-- Takes, renews or takes over a lease, by this database's clock; returns no row while another owner holds it. A lease
-- belongs to the consumer that its name begins with, up to the slash. A new epoch waits for the running append, so an
-- append under an earlier epoch is either before the takeover (and the new holder reads it) or refused.
create function log.acquire_lease(of_lease text, new_owner text, ttl_ms integer)
returns table (epoch bigint, remaining_ms double precision, idle_ms double precision)
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
  idle_ms := log.idle_ms(held.expires_at, held.ttl_ms);
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
  -- Checked before the lock, because standbys ask every second and must not queue behind appends for a refusal.
  if known and held.owner <> new_owner
    and log.is_held(held.owner, held.expires_at, held.ttl_ms) then
    return;
  end if;
  perform pg_advisory_xact_lock(log.append_lock());
  select l.* into held from log.leases l
  where l.lease = of_lease
  order by l.epoch desc, l.expires_at desc
  limit 1
  for update;
  known := found;
  idle_ms := log.idle_ms(held.expires_at, held.ttl_ms);
  ends_at := clock_timestamp() + make_interval(secs => acquire_lease.ttl_ms / 1000.0);
  if not known then
    epoch := 1;
    insert into log.leases (lease, owner, epoch, expires_at, ttl_ms)
    values (of_lease, new_owner, 1, ends_at, acquire_lease.ttl_ms);
  elsif held.owner <> new_owner
    and log.is_held(held.owner, held.expires_at, held.ttl_ms) then
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
