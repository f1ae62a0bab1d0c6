-- Where each webhook is sent, and what it signs with. URL, headers and secrets are in no event.
create table feeds.webhooks (
  -- The name of the subscription.
  name text collate "C" primary key,
  -- Tells apart the subscriptions that had the name.
  life text not null,
  format text not null,
  url text not null,
  headers jsonb not null,
  secret text not null,
  -- The secret that also signs until a time, in milliseconds since 1970.
  old_secret text,
  old_until_ms double precision,
  -- The command that drew the secret: its repeat returns the same.
  rotation text not null default '',
  -- When the first and the last of the latest failures were, in milliseconds since 1970; null after a success.
  failing_since_ms double precision,
  failed_ms double precision
);

-- What is sent to each webhook: each event once. The event itself is in the log.
create table feeds.deliveries (
  webhook text collate "C" not null,
  event text collate "C" not null,
  position bigint not null,
  type text not null,
  subject text not null,
  state text not null check (state in ('WAITING', 'DELIVERED', 'FAILED')),
  -- The failed attempts since the event was selected, or sent again by a person.
  failures integer not null default 0,
  -- The time of the next attempt while the state is WAITING, otherwise of the last one; in milliseconds since 1970.
  at_ms double precision not null,
  primary key (webhook, event)
);
create index deliveries_waiting on feeds.deliveries (webhook, at_ms, position) where state = 'WAITING';
create index deliveries_by_position on feeds.deliveries (webhook, position desc, event);
create index deliveries_ended on feeds.deliveries (at_ms) where state <> 'WAITING';

-- What was sent and answered, with its secrets masked.
create table feeds.attempts (
  webhook text collate "C" not null,
  event text collate "C" not null,
  -- In milliseconds since 1970.
  at_ms double precision not null,
  took_ms double precision not null,
  status integer,
  error text not null,
  answer text not null,
  request text not null,
  primary key (webhook, event, at_ms)
);
