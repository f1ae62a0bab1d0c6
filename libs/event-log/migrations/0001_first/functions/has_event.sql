-- Returns whether the log has this event at this position. Then it also has all earlier events unchanged.
create function log.has_event(at bigint, of_id uuid) returns boolean
language plpgsql stable
as $$
declare
  -- The bounds are variables, so that the other partitions are pruned when the plan starts.
  before_first constant bigint := (at - 1) / log.partition_size() * log.partition_size();
  last constant bigint := before_first + log.partition_size();
begin
  perform from log.events e
  where e.position = at and e.id = of_id and e.position > before_first and e.position <= last;
  return found;
end
$$;
