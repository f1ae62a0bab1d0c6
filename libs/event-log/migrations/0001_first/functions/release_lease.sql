-- Releases a lease, if this owner holds it. Its epoch stays.
create function log.release_lease(of_lease text, old_owner text) returns void
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
    -- The end of the lease is not changed, so that the newest entry of the index stays the newest.
    update log.leases l set owner = ''
    where l.lease = of_lease and l.epoch = held.epoch and l.expires_at = held.expires_at;
  end if;
end
$$;
