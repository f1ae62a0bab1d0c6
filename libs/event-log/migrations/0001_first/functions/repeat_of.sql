-- Returns the first result of a commit that this service has already written; a row of nulls if there is none.
create function log.repeat_of(ordinal integer, source text, id uuid, of_consumer text, of_partition integer)
returns log.append_result
language plpgsql
as $$
declare
  known record;
begin
  select c.position, c.events into known from log.commits c
  where c.commit_id = id and split_part(c.meta, '"', 4) = source;
  if found then
    return row(ordinal, 'repeated', known.position, (
      select jsonb_build_object('streams', jsonb_agg(jsonb_build_array(w.stream, w.version) order by w.first))
      from (
        select e.stream, max(e.version) as version, min(e.position) as first
        from log.events e
        where e.position > known.position - known.events and e.position <= known.position
        group by e.stream
      ) w
    ))::log.append_result;
  end if;
  select k.commit_id into known
  from log.cursors k
  where k.consumer = of_consumer and k.partition = of_partition
  order by k.position desc, k.part desc
  limit 1;
  if found and known.commit_id = id and log.may('consumer', of_consumer) then
    return row(ordinal, 'repeated', 0, null)::log.append_result;
  end if;
  return null;
end
$$;
