-- Returns whether the calling role owns the category or consumer.
create function log.may(wanted_kind text, wanted_name text) returns boolean
language sql stable
as $$
  select exists (
    select from log.owners where kind = wanted_kind and name = wanted_name and role = session_user
  )
$$;
