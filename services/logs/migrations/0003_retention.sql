-- Every experiment that has lines, or had some that retention has removed.
create table logs.experiments (
  experiment text collate "C" primary key,
  -- The bytes of the text of its lines. Lines that were stored before this table count as nothing.
  bytes bigint not null default 0,
  removed_lines bigint not null default 0,
  -- When the last of those was received, in milliseconds since 1970.
  removed_until_ms double precision,
  -- All of its lines are removed: nothing is looked for until there are new ones.
  gone boolean not null default false
);

-- From one experiment to the next by the index, whatever lines there are.
with recursive known as (
  (select experiment from logs.lines order by experiment limit 1)
  union all
  select (
    select lines.experiment from logs.lines
    where lines.experiment > known.experiment order by lines.experiment limit 1
  )
  from known where known.experiment is not null
)
insert into logs.experiments (experiment) select experiment from known where experiment is not null;
