-- Saves a stream's state for one schema; an older one than the saved one changes nothing.
create function log.save_snapshot(of_stream text, at_version integer, of_schema text, new_body text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not log.may('category', split_part(of_stream, '-', 1)) then
    raise insufficient_privilege using message = format('%s does not own %s', session_user, of_stream);
  end if;
  insert into log.snapshots as s (stream, schema, version, body, saved_at_ms)
  values (of_stream, of_schema, at_version, new_body,
    floor(extract(epoch from clock_timestamp()) * 1000))
  on conflict (stream, schema) do update
    set version = excluded.version, body = excluded.body, saved_at_ms = excluded.saved_at_ms
    where s.version <= excluded.version;
end
$$;
