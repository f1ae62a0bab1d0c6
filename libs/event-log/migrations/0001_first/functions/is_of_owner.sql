-- Returns whether the newest entry of a lease belongs to this owner. A lease that was released and not taken over yet
-- matches any owner: its epoch decides.
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
