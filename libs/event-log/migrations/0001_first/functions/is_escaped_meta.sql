-- Returns the result of `is_meta` for attributes that contain a backslash and are a JSON object of strings.
create function log.is_escaped_meta(meta text) returns boolean
language sql immutable
as $$
  select array(select json_object_keys(meta::json))
      = '{source,workspace,correlationid,causationid,authid,traceparent}'
    and log.is_authid(meta::json ->> 'authid')
$$;
