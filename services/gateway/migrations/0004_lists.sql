-- The rows of lists, folded from the log together with the documents: what a list is filtered and sorted by, in columns of
-- their types. Text is cut to 256 characters. A scope is the experiment of a list; empty where there is one list for all.
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
  -- A deletion that may be taken back: in no list but that of deleted experiments.
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
-- The trials of one experiment are few enough to sort; only the two orders that pages show first have an index.
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

-- Hyperparameters and metrics of the rows: hparams.optimizer.lr, metrics.loss.
create table gateway.attributes (
  kind text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  scope text collate "C" not null,
  ordinal bigint not null,
  -- Null for what is no number. NaN has no rank: it is a text.
  number double precision,
  -- Null for a number.
  text text collate "C",
  primary key (kind, id, name)
);
create index attributes_by_number on gateway.attributes (kind, name, scope, number, ordinal, id)
  where number is not null;
create index attributes_by_text on gateway.attributes (kind, name, scope, text, ordinal, id)
  where text is not null;
