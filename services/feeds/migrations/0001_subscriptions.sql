-- Views of the log: subscriptions that are not deleted, and the facts of experiments and tasks that filters name.

create table feeds.subscriptions (
  name text collate "C" primary key,
  delivery text not null check (delivery in ('pull', 'nats', 'webhook')),
  -- The position of the event that created the subscription: another subscription of the name has another one.
  life double precision not null,
  created_at_ms double precision not null,
  -- The position after which its events begin.
  after double precision not null,
  -- EventFilter, WebhookSettings and SubscriptionReader as proto JSON.
  filter text not null,
  webhook text,
  reader text not null,
  expires_after_ms double precision,
  -- The reason why its token no longer reads, and why it is disabled; null if neither is so.
  stopped text,
  disabled text
);

create table feeds.experiments (
  -- The number of an experiment, or the id of a task.
  id text collate "C" primary key,
  workspace text not null,
  labels text[] not null,
  -- integrations.webhooks of the configuration as JSON; null without it.
  webhooks text
);

-- How far each subscription and each sink of the operator has come. No view: acknowledgements are not in the log.
create table feeds.progress (
  name text collate "C" primary key,
  -- The life of the subscription; 0 for a sink of the operator.
  life double precision not null,
  position double precision not null,
  event text not null,
  acknowledged_at_ms double precision,
  last_error text not null default '',
  last_error_at_ms double precision
);

create table feeds.view_cursor (
  view text primary key,
  position bigint not null,
  commit_id uuid not null,
  -- The id of the event at the position; empty at 0. After a restored backup a commit may have other events.
  event text not null,
  -- The version of the code that folded the rows.
  version integer not null
);

-- Streams that a view could not apply: the first event that failed, and how many wait behind it.
create table feeds.view_set_aside (
  view text not null,
  stream text collate "C" not null,
  position bigint not null,
  type text not null,
  reason text not null,
  waiting integer not null default 0,
  set_aside_at timestamptz not null default now(),
  primary key (view, stream)
);
