-- Returns the version of a stream, in whatever partition its newest event is; 0 if the stream does not exist.
create function log.stored_version(of_stream text) returns integer
language plpgsql stable
as $$
declare
  newest integer;
  before_first bigint;
  last bigint;
  stored integer;
begin
  select s.last_partition into newest from log.streams s where s.stream = of_stream;
  if not found then return 0; end if;
  before_first := newest * log.partition_size();
  last := before_first + log.partition_size();
  -- The bounds are variables, so that the other partitions are pruned when the plan starts.
  select e.version into stored
  from log.events e
  where e.stream = of_stream and e.position > before_first and e.position <= last
  order by e.version desc
  limit 1;
  if not found then
    raise exception 'the newest event of % is missing: verify the log', of_stream using errcode = 'data_corrupted';
  end if;
  return stored;
end
$$;
