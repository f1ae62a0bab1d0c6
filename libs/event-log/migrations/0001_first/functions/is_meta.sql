-- Returns whether attributes have the form that this project's clients write: the six attributes as strings, in their
-- order, without spaces, and an authid of its form. Exact: without a backslash every quote is structure, and the six
-- keys and values have 24. One expression, so that PostgreSQL inlines it.
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
