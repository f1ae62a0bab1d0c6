-- Deletes the saved states of a stream, of all schemas.
create function log.drop_snapshots(of_stream text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not log.may('category', split_part(of_stream, '-', 1)) then
    raise insufficient_privilege using message = format('%s does not own %s', session_user, of_stream);
  end if;
  delete from log.snapshots s where s.stream = of_stream;
end
$$;
