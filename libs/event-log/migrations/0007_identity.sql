-- Who writes a commit, and what its attributes look like.

-- The attributes with the source of whoever calls, whatever source they came with.
create function log.with_source(meta text, own_start text) returns text
language sql immutable
as $$
  select own_start || substr(meta, strpos(meta, ',"workspace":') + length(',"workspace":'))
$$;

-- Who caused a commit: nobody (empty), a name (admin), or a kind and an id (token:4f…, run:12.3#1, agent:gpu-7).
create function log.is_authid(authid text) returns boolean
language sql immutable
as $$ select authid = '' or authid ~ '^([a-z]+:)?[A-Za-z0-9._@+#-]+$' and octet_length(authid) <= 200 $$;

-- The same of attributes in which something is escaped, and which are a JSON object whose keys have strings as values.
create function log.is_escaped_meta(meta text) returns boolean
language sql immutable
as $$
  select array(select json_object_keys(meta::json))
      = '{source,workspace,correlationid,causationid,authid,traceparent}'
    and log.is_authid(meta::json ->> 'authid')
$$;

-- Whether attributes are what a client of ours writes: the six of them as strings, in their order, without spaces, and who
-- caused the commit in its form. Exact: without a backslash every quote is structure, and the six keys take all 24. One
-- expression, so that it is evaluated where it is called.
create function log.is_meta(meta text) returns boolean
language sql immutable
as $$
  select meta like
      '{"source":"%","workspace":"%","correlationid":"%","causationid":"%","authid":"%","traceparent":"%"}'
    and case
      when meta is not json object with unique keys then false
      when strpos(meta, '\') = 0 then
        octet_length(meta) - octet_length(replace(meta, '"', '')) = 24 and log.is_authid(split_part(meta, '"', 20))
      else log.is_escaped_meta(meta)
    end
$$;

-- The version of a stream, wherever its newest event is; 0 for one that does not exist.
create function log.stored_version(of_stream text) returns integer
language plpgsql stable
as $$
declare
  newest integer;
  before_first bigint;
  last bigint;
  stored integer;
begin
  select s.last_partition into newest from log.streams s where s.stream = of_stream;
  if not found then return 0; end if;
  before_first := newest * log.partition_size();
  last := before_first + log.partition_size();
  -- The bounds are variables, so that the other partitions are left out before the plan starts.
  select e.version into stored
  from log.events e
  where e.stream = of_stream and e.position > before_first and e.position <= last
  order by e.version desc
  limit 1;
  if not found then
    raise exception 'the newest event of % is missing: verify the log', of_stream using errcode = 'data_corrupted';
  end if;
  return stored;
end
$$;

-- A stream's events, from the partitions that hold any of it. The settings are those of `append`, for the same reason.
create function log.read_stream(of_stream text, after_version integer, at_most bigint)
returns table ("position" bigint, version integer, id uuid, type text, body text,
  time_ms bigint, commit_id uuid, meta text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
as $$
declare
  before_first bigint;
  last bigint;
begin
  select s.first_partition * log.partition_size(), (s.last_partition + 1) * log.partition_size()
  into before_first, last
  from log.streams s where s.stream = of_stream;
  if not found then return; end if;
  -- An event without its commit is no event: the join keeps it, so that it is noticed.
  return query
    select e.position, e.version, e.id, e.type, e.body, c.time_ms, c.commit_id, c.meta
    from log.events e left join log.commits c on c.position = e.commit_position
    where e.stream = of_stream and e.version > after_version
      and e.position > before_first and e.position <= last
    order by e.version
    limit at_most;
end
$$;
