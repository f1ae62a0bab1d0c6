-- Names this cluster to browsers, whose cookies do not tell two ports of one host apart.
create table gateway.cluster (id text primary key);
insert into gateway.cluster values (left(replace(gen_random_uuid()::text, '-', ''), 12));

-- Sessions of browsers: primary data. Only the SHA-256 of a secret is kept.
create table gateway.sessions (
  digest text collate "C" primary key,
  -- The id of the session's token.
  token text collate "C" not null,
  opened_at timestamptz not null default now(),
  -- To the minute.
  used_at timestamptz not null default now()
);
create index sessions_of_token on gateway.sessions (token, used_at);

-- Codes that open one session each.
create table gateway.session_codes (
  digest text collate "C" primary key,
  token text collate "C" not null,
  expires_at timestamptz not null
);
