-- Returns the position of a consumer: that of the last commit that moved its cursor, or of a later move without events.
create function log.current_cursor(of_consumer text, of_partition integer,
  out "position" bigint, out part integer)
language sql stable
as $$
  select c.position, c.part
  from (
    (
      select m.cursor_position as position, m.cursor_part as part
      from log.commits m
      where m.consumer = of_consumer and m.partition = of_partition
      order by m.position desc
      limit 1
    )
    union all
    (
      select l.position, l.part
      from log.cursors l
      where l.consumer = of_consumer and l.partition = of_partition
      order by l.position desc, l.part desc
      limit 1
    )
    union all
    select 0, 0
  ) c
  order by c.position desc, c.part desc
  limit 1
$$;
