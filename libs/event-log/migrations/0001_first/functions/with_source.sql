-- Returns the attributes with the source of the calling role instead of the source that the caller sent.
create function log.with_source(meta text, own_start text) returns text
language sql immutable
as $$
  select own_start || substr(meta, strpos(meta, ',"workspace":') + length(',"workspace":'))
$$;
