select log.ensure_partitions(0);
select log.ensure_partitions(log.partition_size());

-- By default every role may execute a function. `migrateLog` then grants each service role what it may call.
revoke all on all functions in schema log from public;
