-- The effect's commit id derives from a number drawn with the row, so that a key whose time is over names a new effect.
-- Null in rows from before: their commit ids derive from caller, path and key.
alter table gateway.idempotency add column number uuid;
-- The attempt under way: nobody else's until then. Only the attempt that a row counts may give it up.
alter table gateway.idempotency add column held_until timestamptz not null default now() + interval '30 seconds';
alter table gateway.idempotency add column attempts int not null default 1;
