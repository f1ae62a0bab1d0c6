-- Returns the number of positions in a partition of `events`.
create function log.partition_size() returns bigint
language sql immutable parallel safe
as $$ select 10000000::bigint $$;
