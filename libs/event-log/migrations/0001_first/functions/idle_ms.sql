-- Returns the time since a lease was last acquired or renewed. It is negative if a clock that was ahead granted the lease.
create function log.idle_ms(expires_at timestamptz, ttl_ms integer) returns double precision
language sql volatile
as $$
  select 1000 * extract(epoch from clock_timestamp() - expires_at) + ttl_ms
$$;
