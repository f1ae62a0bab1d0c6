-- Returns the key of the advisory lock that appends take one after the other.
create function log.append_lock() returns bigint
language sql immutable parallel safe
-- "trainlog" in ASCII.
as $$ select x'747261696e6c6f67'::bigint $$;
