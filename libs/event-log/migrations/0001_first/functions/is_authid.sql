-- Returns whether a text has the form of an authid, the cause of a commit: empty, a name (admin), or a kind and an id
-- (token:4f…, run:12.3#1, agent:gpu-7).
create function log.is_authid(authid text) returns boolean
language sql immutable
as $$ select authid = '' or authid ~ '^([a-z]+:)?[A-Za-z0-9._@+#-]+$' and octet_length(authid) <= 200 $$;
