-- Returns the number of the partition of `events` with a position.
create function log.partition_of(of_position bigint) returns integer
language sql immutable parallel safe
as $$ select ((of_position - 1) / log.partition_size())::integer $$;
