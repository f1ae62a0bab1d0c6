-- The read model: one JSON document an entity, folded from the log. Disposable: `yard log verify` folds it afresh.
create table gateway.documents (
  kind text not null,
  id text collate "C" not null,
  -- The entity that lists it: the experiment of a trial. Empty for none.
  parent text collate "C" not null,
  -- Its place in a list.
  ordinal bigint not null,
  -- JSON text: a string within may hold \u0000, which jsonb refuses.
  doc text not null,
  primary key (kind, id)
);
create index documents_in_order on gateway.documents (kind, parent, ordinal);

create table gateway.view_cursor (
  view text primary key,
  position bigint not null,
  commit_id uuid not null
);

-- First answers, by caller and key, for 24 hours.
create table gateway.idempotency (
  authid text not null,
  key text not null,
  request_digest text not null,
  -- Null while the first attempt is under way.
  status int,
  answer text,
  created_at timestamptz not null default now(),
  primary key (authid, key)
);
create index idempotency_by_age on gateway.idempotency (created_at);
