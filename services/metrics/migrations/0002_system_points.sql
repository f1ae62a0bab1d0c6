-- What the machines of a trial were doing. Of a moment, not of a step: no run supersedes what another one's machines did.
create table metrics.system_points (
  trial text collate "C" not null,
  run integer not null,
  -- The report's key within its run.
  key text collate "C" not null,
  group_name text collate "C" not null,
  -- The node's rank among the run's nodes.
  node integer not null,
  -- A GPU's id, or empty.
  device text collate "C" not null,
  -- Milliseconds since 1970, the reporting process's clock.
  at_ms double precision not null,
  step double precision not null,
  samples integer not null,
  -- A JSON list of {name, min, mean, max}.
  measured text not null,
  primary key (trial, run, key)
);
-- The order in which a trial's system points are read.
create index system_points_in_order on metrics.system_points (trial, at_ms, run, key);

-- All samples of one quantity, brought up to date with each new point: what a run of weeks did is one row to read.
create table metrics.system_totals (
  trial text collate "C" not null,
  run integer not null,
  node integer not null,
  group_name text collate "C" not null,
  device text collate "C" not null,
  name text collate "C" not null,
  samples double precision not null,
  total double precision not null,
  min double precision not null,
  max double precision not null,
  primary key (trial, run, node, group_name, device, name)
);
