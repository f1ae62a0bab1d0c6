-- The numbers of experiments. Each attempt to create one draws a number outside its commit, so gaps are normal.
create sequence experiments.experiment_ids as bigint minvalue 1 maxvalue 9007199254740991;

-- Returns the next number of an experiment. nextval logs 32 numbers ahead, so a crash of PostgreSQL would skip up to 32;
-- setval logs the number itself. The lock gives concurrent calls different numbers.
create function experiments.next_experiment_id() returns bigint language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('experiments.experiment_ids'));
  return (
    select setval('experiments.experiment_ids', case when is_called then last_value + 1 else last_value end)
    from experiments.experiment_ids
  );
end
$$;

-- The numbers of tasks, which count apart from those of experiments.
create sequence experiments.task_ids as bigint minvalue 1 maxvalue 9007199254740991;

create function experiments.next_task_id() returns bigint language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('experiments.task_ids'));
  return (
    select setval('experiments.task_ids', case when is_called then last_value + 1 else last_value end)
    from experiments.task_ids
  );
end
$$;
