-- Returns whether the epoch is current. It then stays current until this transaction ends, because another owner's
-- takeover waits for the row lock.
create function log.fence_holds(of_lease text, of_epoch bigint) returns boolean
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
