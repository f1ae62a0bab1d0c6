-- The read model: one JSON document for each entity, folded from the log. It can be deleted and rebuilt; `yard log verify`
-- compares it with a rebuild.
create table gateway.documents (
  kind text not null,
  id text collate "C" not null,
  -- The entity whose list contains it: the experiment of a trial. Empty for none.
  parent text collate "C" not null,
  -- Its place in a list.
  ordinal bigint not null,
  -- JSON text, because jsonb refuses strings with \u0000.
  doc text not null,
  primary key (kind, id)
);
create index documents_in_order on gateway.documents (kind, parent, ordinal);

create table gateway.view_cursor (
  view text primary key,
  position bigint not null,
  commit_id uuid not null,
  -- The id of the event at the position; empty at 0. After a restored backup a commit may have other events.
  event text not null,
  -- The version of the code that folded the rows.
  version integer not null
);

-- Streams that a view could not apply: the first event that failed, and how many wait behind it.
create table gateway.view_set_aside (
  view text not null,
  stream text collate "C" not null,
  position bigint not null,
  type text not null,
  reason text not null,
  waiting integer not null default 0,
  set_aside_at timestamptz not null default now(),
  primary key (view, stream)
);

-- The rows of lists, folded from the log together with the documents: the values by which a list is filtered and sorted, in
-- typed columns. Text is cut to 256 characters. The scope is the experiment or workspace of a list; empty if there is one
-- list for all.
create table gateway.experiment_rows (
  id text collate "C" primary key,
  scope text collate "C" not null,
  ordinal bigint not null,
  name text collate "C",
  state text collate "C",
  owner text collate "C",
  workspace text collate "C",
  project text collate "C",
  searcher text collate "C",
  metric text collate "C",
  forked_from text collate "C",
  archived boolean,
  -- True if it was deleted and can be restored: only the list of deleted experiments contains it.
  deleted boolean,
  created_at_ms double precision,
  ended_at_ms double precision,
  progress double precision,
  trials double precision,
  trials_completed double precision,
  trials_failed double precision,
  best_value double precision,
  best_trial text collate "C",
  labels text[] not null,
  words tsvector not null
);
create index experiment_rows_place on gateway.experiment_rows (scope, ordinal, id);
create index experiment_rows_name on gateway.experiment_rows (scope, name, ordinal, id);
create index experiment_rows_state on gateway.experiment_rows (scope, state, ordinal, id);
create index experiment_rows_owner on gateway.experiment_rows (scope, owner, ordinal, id);
create index experiment_rows_workspace on gateway.experiment_rows (scope, workspace, ordinal, id);
create index experiment_rows_project on gateway.experiment_rows (scope, workspace, project, ordinal, id);
create index experiment_rows_by_project on gateway.experiment_rows (scope, project, ordinal, id);
create index experiment_rows_searcher on gateway.experiment_rows (scope, searcher, ordinal, id);
create index experiment_rows_metric on gateway.experiment_rows (scope, metric, ordinal, id);
create index experiment_rows_parent on gateway.experiment_rows (scope, forked_from, ordinal, id);
create index experiment_rows_archived on gateway.experiment_rows (scope, archived, ordinal, id);
create index experiment_rows_deleted on gateway.experiment_rows (scope, ordinal, id) where deleted;
create index experiment_rows_created on gateway.experiment_rows (scope, created_at_ms, ordinal, id);
create index experiment_rows_ended on gateway.experiment_rows (scope, ended_at_ms, ordinal, id);
create index experiment_rows_progress on gateway.experiment_rows (scope, progress, ordinal, id);
create index experiment_rows_trials on gateway.experiment_rows (scope, trials, ordinal, id);
create index experiment_rows_completed on gateway.experiment_rows (scope, trials_completed, ordinal, id);
create index experiment_rows_failed on gateway.experiment_rows (scope, trials_failed, ordinal, id);
create index experiment_rows_best on gateway.experiment_rows (scope, best_value, ordinal, id);
create index experiment_rows_best_trial on gateway.experiment_rows (scope, best_trial, ordinal, id);
create index experiment_rows_labels on gateway.experiment_rows using gin (labels);
create index experiment_rows_words on gateway.experiment_rows using gin (words);

create table gateway.trial_rows (
  id text collate "C" primary key,
  scope text collate "C" not null,
  ordinal bigint not null,
  state text collate "C",
  origin text collate "C",
  source_trial text collate "C",
  restarts double precision,
  steps_completed double precision,
  best_value double precision,
  created_at_ms double precision,
  ended_at_ms double precision,
  labels text[] not null,
  words tsvector not null
);
-- The trials of one experiment are few enough to be sorted: only the two orders that pages show first have an index.
create index trial_rows_place on gateway.trial_rows (scope, ordinal, id);
create index trial_rows_best on gateway.trial_rows (scope, best_value, ordinal, id);

create table gateway.checkpoint_rows (
  id text collate "C" primary key,
  scope text collate "C" not null,
  ordinal bigint not null,
  trial text collate "C",
  run double precision,
  state text collate "C",
  steps_completed double precision,
  files double precision,
  bytes double precision,
  pins double precision,
  declared_at_ms double precision,
  completed_at_ms double precision,
  labels text[] not null,
  words tsvector not null
);
create index checkpoint_rows_place on gateway.checkpoint_rows (scope, ordinal, id);
create index checkpoint_rows_trial on gateway.checkpoint_rows (scope, trial, ordinal, id);

create table gateway.model_rows (
  id text collate "C" primary key,
  scope text collate "C" not null,
  ordinal bigint not null,
  name text collate "C",
  workspace text collate "C",
  created_by text collate "C",
  archived boolean,
  versions double precision,
  created_at_ms double precision,
  changed_at_ms double precision,
  labels text[] not null,
  words tsvector not null
);
create index model_rows_place on gateway.model_rows (scope, ordinal, id);
create index model_rows_name on gateway.model_rows (scope, name, ordinal, id);
create index model_rows_labels on gateway.model_rows using gin (labels);
create index model_rows_words on gateway.model_rows using gin (words);

create table gateway.agent_rows (
  id text collate "C" primary key,
  scope text collate "C" not null,
  ordinal bigint not null,
  name text collate "C",
  pool text collate "C",
  state text collate "C",
  version text collate "C",
  slots double precision,
  free_slots double precision,
  disabled boolean,
  labels text[] not null,
  words tsvector not null
);
create index agent_rows_place on gateway.agent_rows (scope, ordinal, id);

-- A job has a row while it has runs.
create table gateway.job_rows (
  id text collate "C" primary key,
  scope text collate "C" not null,
  ordinal bigint not null,
  -- 12 for an experiment, t12 for a task.
  job text collate "C",
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
create index job_rows_job on gateway.job_rows (scope, job, ordinal, id);
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

create table gateway.task_rows (
  id text collate "C" primary key,
  scope text collate "C" not null,
  ordinal bigint not null,
  task text collate "C",
  kind text collate "C",
  name text collate "C",
  state text collate "C",
  owner text collate "C",
  workspace text collate "C",
  pool text collate "C",
  -- The agent of the last run.
  agent text collate "C",
  slots double precision,
  priority double precision,
  restarts double precision,
  exit_code double precision,
  created_at_ms double precision,
  started_at_ms double precision,
  ended_at_ms double precision,
  labels text[] not null,
  words tsvector not null
);
create index task_rows_place on gateway.task_rows (scope, ordinal, id);
create index task_rows_state on gateway.task_rows (scope, state, ordinal, id);
create index task_rows_kind on gateway.task_rows (scope, kind, ordinal, id);
create index task_rows_name on gateway.task_rows (scope, name, ordinal, id);
create index task_rows_owner on gateway.task_rows (scope, owner, ordinal, id);
create index task_rows_workspace on gateway.task_rows (scope, workspace, ordinal, id);
create index task_rows_pool on gateway.task_rows (scope, pool, ordinal, id);
create index task_rows_agent on gateway.task_rows (scope, agent, ordinal, id);
create index task_rows_slots on gateway.task_rows (scope, slots, ordinal, id);
create index task_rows_created on gateway.task_rows (scope, created_at_ms, ordinal, id);
create index task_rows_ended on gateway.task_rows (scope, ended_at_ms, ordinal, id);
create index task_rows_words on gateway.task_rows using gin (words);

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

-- The scope is the project's workspace.
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

-- Deleted experiments, of whose trials and checkpoints rows may be left.
create table gateway.removed_experiments (id text collate "C" primary key);

-- Hyperparameters and metrics of the rows: hparams.optimizer.lr, metrics.loss.
create table gateway.attributes (
  kind text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  scope text collate "C" not null,
  ordinal bigint not null,
  -- Null if the value is no number. NaN cannot be ordered: it is a text.
  number double precision,
  -- Null for a number.
  text text collate "C",
  primary key (kind, id, name)
);
create index attributes_by_number on gateway.attributes (kind, name, scope, number, ordinal, id)
  where number is not null;
create index attributes_by_text on gateway.attributes (kind, name, scope, text, ordinal, id)
  where text is not null;

-- The values by which versions of models are searched, folded from the log together with the documents.
create table gateway.version_facts (
  model text collate "C" not null,
  -- metrics.NAME, hparams.NAME, metadata.NAME, step, label=NAME, semver=1.2.0.
  fact text collate "C" not null,
  -- The number of the version.
  number integer not null,
  -- Finite; null if the value is no number.
  value_num double precision,
  -- Null for a number.
  value_text text,
  primary key (model, fact, number)
);
-- The best version by a metric, in both directions; the oldest of equal ones.
create index version_facts_least on gateway.version_facts (model, fact, value_num, number)
  where value_num is not null;
create index version_facts_most on gateway.version_facts (model, fact, value_num desc, number)
  where value_num is not null;

-- The experiments, tasks and versions of models that name a content by its digest. Folded from the log together with the documents.
create table gateway.content_uses (
  -- contexts.<digest>, submissions.<digest>, environments.<digest>
  content text collate "C" not null,
  -- experiment-12, task-t12, version-iris/3
  used_by text collate "C" not null,
  primary key (content, used_by)
);
create index content_uses_by_user on gateway.content_uses (used_by);

-- How far this service has read the log for experiments that were deleted for good, whose contents it deletes.
create table gateway.purged (
  one boolean primary key default true check (one),
  position bigint not null,
  -- The id of the event at the position: a log that went back has another one there, or none.
  event text not null
);

-- First answers, by caller and key, for 24 hours.
create table gateway.idempotency (
  caller text not null,
  key text not null,
  request_digest text not null,
  -- Null while the first attempt runs.
  status int,
  answer text,
  created_at timestamptz not null default now(),
  -- The commit id of the effect is derived from this number, which is drawn with the row: a key that is used again after 24
  -- hours has another effect.
  number uuid not null,
  -- Until then the key belongs to the running attempt. Only the attempt that the row counts may release it.
  held_until timestamptz not null default now() + interval '30 seconds',
  attempts int not null default 1,
  primary key (caller, key)
);
create index idempotency_by_age on gateway.idempotency (created_at);

-- Identifies this cluster to browsers, whose cookies are shared by all ports of a host.
create table gateway.cluster (id text primary key);
insert into gateway.cluster values (left(replace(gen_random_uuid()::text, '-', ''), 12));

-- The replica that has the tunnel of a run. A hint: the tunnels themselves are in the memory of the replicas.
create table gateway.tunnels (
  allocation text collate "C" primary key,
  -- The address at which the other replicas reach it.
  replica text not null,
  -- A later tunnel of the run has another one.
  connection text not null,
  seen_at timestamptz not null default now()
);
