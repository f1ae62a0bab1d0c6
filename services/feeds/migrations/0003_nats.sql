-- The passwords of the programs that receive subscriptions over NATS.
create table feeds.nats_users (
  subscription text collate "C" primary key,
  -- The commit that created the subscription: its repeat gets the same password.
  life text not null,
  password text not null
);
