-- The next number of an experiment. nextval logs 32 numbers ahead, so that a crash of PostgreSQL skips up to 32; setval logs
-- the number itself. The lock lets concurrent calls take one number each.
create or replace function experiments.next_experiment_id() returns bigint language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('experiments.experiment_ids'));
  return (
    select setval('experiments.experiment_ids', case when is_called then last_value + 1 else last_value end)
    from experiments.experiment_ids
  );
end
$$;
