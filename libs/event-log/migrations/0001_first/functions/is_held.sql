-- Returns whether a lease is held. A lease that ends later than its holder could have requested was granted by a clock
-- that was ahead, perhaps of an earlier primary. It counts as expired: otherwise a dead holder would keep it for the
-- difference of the clocks. A live holder takes it again at its next renewal, or finds that another owner has taken it.
create function log.is_held(owner text, expires_at timestamptz, ttl_ms integer) returns boolean
language sql volatile
as $$
  select owner <> '' and expires_at > clock_timestamp()
    and expires_at <= clock_timestamp() + make_interval(secs => ttl_ms / 1000.0)
$$;
