-- Returns why a commit is refused regardless of versions; a row of nulls if it is not refused.
create function log.refusal_of(ordinal integer, owned text[], events bigint, streams bigint,
  longest integer, broken boolean, meta text, wanted jsonb, of_consumer text, cursor_at bigint,
  parks boolean, head_position bigint) returns log.append_result
language plpgsql
as $$
declare
  code text;
  detail text;
  stranger text;
begin
  select w.item ->> 0 into stranger
  from jsonb_array_elements(wanted) with ordinality as w (item, place)
  where split_part(w.item ->> 0, '-', 1) <> all (owned) or strpos(w.item ->> 0, '-') < 2
  order by w.place
  limit 1;
  if events is null and of_consumer is null then
    code := 'empty';
    detail := 'a commit has events or a cursor';
  elsif parks and of_consumer is null then
    code := 'invalid';
    detail := 'parking needs a cursor';
  elsif streams > 256 then
    code := 'too_many_writes';
    detail := format('%s streams in one commit; at most 256', streams);
  elsif longest > 262144 then
    code := 'body_too_large';
    detail := format('a body of %s bytes; at most 262144', longest);
  elsif broken then
    code := 'invalid';
    detail := 'the versions of a write do not follow one another';
  elsif not log.is_meta(meta) then
    code := 'invalid';
    detail := 'the attributes are not six strings in their order, or authid is neither empty, a name nor kind:id';
  elsif stranger is not null then
    code := 'not_owner';
    detail := format('%s does not own %s', session_user, stranger);
  elsif of_consumer is not null and not log.may('consumer', of_consumer) then
    code := 'not_owner';
    detail := format('%s does not own the consumer %s', session_user, of_consumer);
  elsif cursor_at > head_position then
    code := 'invalid';
    detail := format('a cursor at %s is beyond the head, %s', cursor_at, head_position);
  else
    return null;
  end if;
  return row(ordinal, 'refused', 0,
    jsonb_build_object('code', code, 'detail', detail))::log.append_result;
end
$$;
