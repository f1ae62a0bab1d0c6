-- What is known about users, which is in no event: the log has their ids only.
create table gateway.users (
  id text collate "C" primary key,
  name text not null,
  -- The name in lower case.
  name_key text collate "C" not null unique,
  display_name text not null default '',
  email text not null default '',
  -- person, service
  kind text not null,
  created_at timestamptz not null default now(),
  -- argon2id with its parameters and salt; null for a user without a password.
  password_hash text
);
-- The owner of what is made before the first user. It becomes a user when that one is created.
insert into gateway.users (id, name, name_key, kind) values ('local', 'local', 'local', 'service');

-- The identities of identity providers that sign users in.
create table gateway.identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  user_id text collate "C" not null references gateway.users,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index identities_by_user on gateway.identities (user_id);

-- Wrong passwords, counted for accounts, for addresses, and for both together.
create table gateway.wrong_passwords (
  -- SHA-256 of what is counted: no name and no address is stored.
  counted bytea primary key,
  failures int not null,
  last_at timestamptz not null default now()
);
create index wrong_passwords_by_time on gateway.wrong_passwords (last_at);

-- Sign-ins of programs that wait for a person (RFC 8628).
create table gateway.device_logins (
  -- SHA-256 of the program's secret.
  digest text primary key,
  -- The code that the person confirms.
  code text collate "C" not null unique,
  program text not null,
  address text not null,
  -- What counts as one client: the address, or of IPv6 the /64.
  site text not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null,
  asked_at timestamptz,
  -- waiting, confirmed, refused
  state text not null default 'waiting',
  -- The person who confirmed, as events record it, and the token of the person's session; empty for none.
  owner text collate "C" not null default '',
  token text collate "C" not null default ''
);

-- Sign-ins by identity providers that have begun.
create table gateway.oidc_sign_ins (
  -- SHA-256 of the state.
  digest text primary key,
  -- SHA-256 of the browser's cookie.
  browser text not null,
  -- The client's address; of IPv6 the /64.
  address text not null,
  sign_in jsonb not null,
  expires_at timestamptz not null
);
create index oidc_sign_ins_of_address on gateway.oidc_sign_ins (address, expires_at);

-- The last use of tokens, to the minute.
create table gateway.token_uses (
  token text collate "C" primary key,
  used_at timestamptz not null
);

-- A session of a person has no token.
alter table gateway.sessions add column user_id text collate "C" not null default '';
-- The end of a session that ends also while it is used; null for none.
alter table gateway.sessions add column ends_at timestamptz;
create index sessions_by_user on gateway.sessions (user_id, used_at) where user_id <> '';
