-- What service roles may call besides `append`.

-- Moves a cursor that caused nothing: moved, behind, stale_fence, not_owner or beyond_head.
create function log.move_cursor(of_consumer text, of_partition integer, to_position bigint,
  to_part integer, of_lease text, of_epoch bigint) returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
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

-- Takes, keeps or takes over a lease, by this database's clock; no row while another owner's has not expired. A lease belongs
-- to the consumer that its name begins with, up to the slash. A new epoch waits for the append that runs, so that an append
-- under an old epoch is either before the takeover (and seen by the new holder) or refused.
create function log.acquire_lease(of_lease text, new_owner text, ttl_ms integer)
returns table (epoch bigint, remaining_ms double precision)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  held record;
  ends_at timestamptz;
begin
  if not log.may('consumer', split_part(of_lease, '/', 1)) then
    raise insufficient_privilege using message = format('%s does not own the lease %s', session_user, of_lease);
  end if;
  ends_at := clock_timestamp() + make_interval(secs => ttl_ms / 1000.0);
  update log.leases l set expires_at = ends_at
    where l.lease = of_lease and l.owner = new_owner
    returning l.epoch into epoch;
  if found then
    remaining_ms := ttl_ms;
    return next;
    return;
  end if;
  -- A look before the lock: standbys ask every second, and must not queue behind appends to hear no.
  if exists (
    select from log.leases l
    where l.lease = of_lease and l.owner <> '' and l.expires_at > clock_timestamp()
  ) then
    return;
  end if;
  perform pg_advisory_xact_lock(log.append_lock());
  ends_at := clock_timestamp() + make_interval(secs => ttl_ms / 1000.0);
  insert into log.leases as l (lease, owner, epoch, expires_at)
  values (of_lease, new_owner, 1, ends_at)
  on conflict (lease) do update
    set owner = excluded.owner, epoch = l.epoch + 1, expires_at = excluded.expires_at
    where l.owner = '' or l.expires_at <= clock_timestamp()
  returning l.epoch into epoch;
  if found then
    remaining_ms := ttl_ms;
    return next;
  end if;
end
$$;

create function log.release_lease(of_lease text, old_owner text) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not log.may('consumer', split_part(of_lease, '/', 1)) then
    raise insufficient_privilege using message = format('%s does not own the lease %s', session_user, of_lease);
  end if;
  update log.leases l set owner = '', expires_at = clock_timestamp()
  where l.lease = of_lease and l.owner = old_owner;
end
$$;

-- Keeps the newest fold of a stream per schema; an older one changes nothing.
create function log.save_snapshot(of_stream text, at_version integer, of_schema text, new_body text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not log.may('category', split_part(of_stream, '-', 1)) then
    raise insufficient_privilege using message = format('%s does not own %s', session_user, of_stream);
  end if;
  insert into log.snapshots as s (stream, schema, version, body, saved_at_ms)
  values (of_stream, of_schema, at_version, new_body,
    floor(extract(epoch from clock_timestamp()) * 1000))
  on conflict (stream, schema) do update
    set version = excluded.version, body = excluded.body, saved_at_ms = excluded.saved_at_ms
    where s.version <= excluded.version;
end
$$;

-- Functions are for everyone unless that is taken back; the runner then grants each service role what it may call.
revoke all on all functions in schema log from public;
