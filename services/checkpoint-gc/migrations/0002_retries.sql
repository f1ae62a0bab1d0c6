-- What could not be settled or deleted when it was tried: why, and when it is tried again, so that it does not hold up the
-- others. Not folded from the log: without a row it is tried at once.
create table checkpoint_gc.retries (
  checkpoint text collate "C" primary key,
  tries integer not null,
  next_ms double precision not null,
  why text not null
);
