-- Parks and unparks the events of one commit of a batch. The arrays are those of `append`.
create function log.park(ordinal integer, of_consumer text, of_partition integer,
  park_commits integer[], park_positions bigint[], park_keys text[], park_reasons text[],
  unpark_commits integer[], unpark_positions bigint[]) returns void
language sql
as $$
  delete from log.parked p
  using unnest(unpark_commits, unpark_positions) as u (commit, position)
  where u.commit = ordinal and p.consumer = of_consumer and p.partition = of_partition
    and p.position = u.position;
  insert into log.parked (consumer, partition, position, key, reason, parked_at_ms)
  select of_consumer, of_partition, u.position, u.key, u.reason,
    floor(extract(epoch from clock_timestamp()) * 1000)
  from unnest(park_commits, park_positions, park_keys, park_reasons) as u (commit, position, key, reason)
  where u.commit = ordinal
  on conflict (consumer, partition, position) do update
    set key = excluded.key, reason = excluded.reason;
$$;
