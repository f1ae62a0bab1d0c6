-- Sessions of browsers: primary data. Only the SHA-256 of a secret is stored.
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

-- Sessions of browsers with one host of a task: primary data. Only the SHA-256 of a secret is stored. The session of the
-- Web UI is null if a token asked; the port is 0 for the task's own page; used_at is to the minute.
create table gateway.task_sessions (
  digest text collate "C" primary key,
  task text collate "C" not null,
  port integer not null,
  token text collate "C" not null,
  session text collate "C",
  used_at timestamptz not null default now()
);
create index task_sessions_of_token on gateway.task_sessions (token, used_at);

-- Codes that open one session with a host of a task each.
create table gateway.task_codes (
  digest text collate "C" primary key,
  task text collate "C" not null,
  port integer not null,
  token text collate "C" not null,
  session text collate "C",
  expires_at timestamptz not null
);
