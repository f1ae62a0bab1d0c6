-- Moves a cursor without events. Returns false if the new position is not after the current one.
create function log.write_cursor(of_consumer text, of_partition integer, to_position bigint,
  to_part integer, by_commit uuid) returns boolean
language plpgsql
as $$
declare
  now_at record;
  stored record;
begin
  loop
    select * into now_at from log.current_cursor(of_consumer, of_partition);
    if (to_position, to_part) <= (now_at.position, now_at.part) then
      return false;
    end if;
    select k.position, k.part into stored
    from log.cursors k
    where k.consumer = of_consumer and k.partition = of_partition
    order by k.position desc, k.part desc
    limit 1;
    if not found then
      -- Two concurrent first moves leave two rows; the one that is behind is never read.
      insert into log.cursors (consumer, partition, position, part, commit_id)
      values (of_consumer, of_partition, to_position, to_part, by_commit);
      return true;
    end if;
    update log.cursors k
    set position = to_position, part = to_part, commit_id = by_commit
    where k.consumer = of_consumer and k.partition = of_partition
      and k.position = stored.position and k.part = stored.part;
    if found then
      return true;
    end if;
    -- Another move was faster: compare again.
  end loop;
end
$$;
