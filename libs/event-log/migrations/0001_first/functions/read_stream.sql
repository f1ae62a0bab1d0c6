-- Returns a stream's events, and reads only the partitions from its first to its newest event. The settings are those
-- of `append`, for the same reason.
create function log.read_stream(of_stream text, after_version integer, at_most bigint)
returns table ("position" bigint, version integer, id uuid, type text, body text,
  time_ms bigint, commit_id uuid, meta text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
as $$
declare
  before_first bigint;
  last bigint;
begin
  select s.first_partition * log.partition_size(), (s.last_partition + 1) * log.partition_size()
  into before_first, last
  from log.streams s where s.stream = of_stream;
  if not found then return; end if;
  -- The left join is deliberate: an event whose commit is missing must be reported.
  return query
    select e.position, e.version, e.id, e.type, e.body, c.time_ms, c.commit_id, c.meta
    from log.events e left join log.commits c on c.position = e.commit_position
    where e.stream = of_stream and e.version > after_version
      and e.position > before_first and e.position <= last
    order by e.version
    limit at_most;
end
$$;
