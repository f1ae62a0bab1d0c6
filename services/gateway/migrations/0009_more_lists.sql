-- The rows of jobs, workspaces and projects, as in 0004. A job has a row while it has runs.
create table gateway.job_rows (
  id text collate "C" primary key,
  scope text collate "C" not null,
  ordinal bigint not null,
  pool text collate "C",
  workspace text collate "C",
  owner text collate "C",
  priority double precision,
  weight double precision,
  max_slots double precision,
  runs_waiting double precision,
  runs_placed double precision,
  slots_held double precision,
  slots_wanted double precision,
  slots_borrowed double precision,
  -- Sorts jobs as the queues of the pools do.
  queue text collate "C",
  labels text[] not null,
  words tsvector not null
);
create index job_rows_place on gateway.job_rows (scope, ordinal, id);
create index job_rows_queue on gateway.job_rows (scope, queue, ordinal, id);
create index job_rows_pool on gateway.job_rows (scope, pool, ordinal, id);
create index job_rows_workspace on gateway.job_rows (scope, workspace, ordinal, id);
create index job_rows_owner on gateway.job_rows (scope, owner, ordinal, id);
create index job_rows_priority on gateway.job_rows (scope, priority, ordinal, id);
create index job_rows_weight on gateway.job_rows (scope, weight, ordinal, id);
create index job_rows_max_slots on gateway.job_rows (scope, max_slots, ordinal, id);
create index job_rows_waiting on gateway.job_rows (scope, runs_waiting, ordinal, id);
create index job_rows_placed on gateway.job_rows (scope, runs_placed, ordinal, id);
create index job_rows_held on gateway.job_rows (scope, slots_held, ordinal, id);
create index job_rows_wanted on gateway.job_rows (scope, slots_wanted, ordinal, id);
create index job_rows_borrowed on gateway.job_rows (scope, slots_borrowed, ordinal, id);
create index job_rows_words on gateway.job_rows using gin (words);

create table gateway.workspace_rows (
  id text collate "C" primary key,
  scope text collate "C" not null,
  ordinal bigint not null,
  name text collate "C",
  archived boolean,
  created_by text collate "C",
  created_at_ms double precision,
  labels text[] not null,
  words tsvector not null
);
create index workspace_rows_place on gateway.workspace_rows (scope, ordinal, id);
create index workspace_rows_name on gateway.workspace_rows (scope, name, ordinal, id);
create index workspace_rows_archived on gateway.workspace_rows (scope, archived, ordinal, id);
create index workspace_rows_creator on gateway.workspace_rows (scope, created_by, ordinal, id);
create index workspace_rows_created on gateway.workspace_rows (scope, created_at_ms, ordinal, id);
create index workspace_rows_words on gateway.workspace_rows using gin (words);

-- A scope is a workspace.
create table gateway.project_rows (
  id text collate "C" primary key,
  scope text collate "C" not null,
  ordinal bigint not null,
  name text collate "C",
  archived boolean,
  created_by text collate "C",
  created_at_ms double precision,
  labels text[] not null,
  words tsvector not null
);
create index project_rows_place on gateway.project_rows (scope, ordinal, id);
create index project_rows_name on gateway.project_rows (scope, name, ordinal, id);
create index project_rows_archived on gateway.project_rows (scope, archived, ordinal, id);
create index project_rows_creator on gateway.project_rows (scope, created_by, ordinal, id);
create index project_rows_created on gateway.project_rows (scope, created_at_ms, ordinal, id);
create index project_rows_words on gateway.project_rows using gin (words);
