-- The order in which lines are stored, and with it the cursor of readers. Drawn while the writer holds the service's
-- advisory lock, so that no reader sees a line before another of a lower position.
create sequence logs.line_positions as bigint;

-- Every line, once. Partitioned by experiment: all reads name one, and its lines go together.
create table logs.lines (
  experiment text collate "C" not null,
  trial text collate "C" not null,
  run integer not null,
  node_rank integer not null,
  -- Rises by one for each line of a node of a run; the agent's.
  sequence bigint not null,
  position bigint not null default nextval('logs.line_positions'),
  -- Milliseconds since 1970, the agent's clock.
  at_ms double precision not null,
  -- The number of trainyard.command.v1.LogSource.
  source smallint not null,
  -- The text goes on in the next line.
  continued boolean not null,
  -- U+0000, which a text cannot hold, is written as U+0001 and "0"; U+0001 as U+0001 and "1".
  line text not null,
  primary key (experiment, trial, run, node_rank, sequence)
) partition by hash (experiment);

create index lines_of_experiments on logs.lines (experiment, position);
create index lines_of_trials on logs.lines (experiment, trial, position);

do $$
begin
  for part in 0..15 loop
    execute format(
      'create table logs.lines_%s partition of logs.lines for values with (modulus 16, remainder %s)', part, part);
  end loop;
end $$;
