alter table registry.unfinished drop constraint unfinished_state_check;
alter table registry.unfinished
  -- declared: being written. named: its run is over, and it may complete all the same. run_over: nobody completes it any
  -- more. void: failed or abandoned, its files go after a grace.
  add constraint unfinished_state_check check (state in ('declared', 'named', 'run_over', 'void')),
  -- When its run was over, or it void, in milliseconds since 1970; 0 while it is declared.
  add column since_ms double precision not null default 0,
  -- The training steps that it holds.
  add column step double precision not null default 0,
  -- Null until it is declared.
  alter column storage drop not null;

-- What could not be dealt with is tried again later. Not folded from the log.
create table registry.unfinished_tries (
  checkpoint text collate "C" primary key,
  tries integer not null,
  next_try_ms double precision not null
);
