/** The SQL statements of reads. Positions and versions are numbers; bodies have their exact stored text. */

/**
 * Ends a page before the event that would exceed its bytes; the first event is always in it. The running sum needs only
 * the lengths, so bodies beyond the end are not fetched.
 */
export function pageOf(order: "position" | "version", rows: string, bytesMax: string): string {
  return `select * from (
    select *, coalesce(sum(octet_length(body)) over (order by ${order} rows unbounded preceding), 0) as bytes
    from (${rows}) as rows
  ) as sized where bytes <= ${bytesMax} or bytes = octet_length(body) order by ${order}`;
}

/**
 * Searches all partitions, for a log with few of them. The left join is deliberate: an event whose commit row is
 * missing must be reported as corruption.
 */
export const readStreamStatement = pageOf(
  "version",
  `select e.position, e.version, e.id, e.type, e.body, c.time_ms, c.commit_id, c.meta
  from log.events e left join log.commits c on c.position = e.commit_position
  where e.stream = $1 and e.version > $2 order by e.version limit $3`,
  "$4",
);

/** First finds the partitions that contain the stream, then reads only these: faster in a log with many partitions. */
export const readFromManyStatement = pageOf(
  "version",
  `select position, version, id, type, body, time_ms, commit_id, meta
  from log.read_stream($1, $2, $3)`,
  "$4",
);

/**
 * Each commit is read and sent once, however many events it has. One statement gives both from the same snapshot.
 * Positions have no gaps, so the page ends at $1 + $2 at the latest, and so do all of its commits except perhaps the
 * last.
 */
export const readAllStatement = `(
    select position, stream, version, id, type, body, null::bigint, null::text
    from (${pageOf(
      "position",
      `select position, stream, version, id, type, body
      from log.events where position > $1 order by position limit $2`,
      "$3",
    )}) as page
  ) union all (
    select position, null, null, commit_id, null, null, time_ms, meta
    from log.commits where position > $1 and position < $1 + $2 order by position
  ) union all (
    select position, null, null, commit_id, null, null, time_ms, meta
    from log.commits where position >= $1 + $2 order by position limit 1
  )`;

/** Scans the given number of positions by index; events of other streams are not sent. */
export const readSomeStatement = pageOf(
  "position",
  `select e.position, e.version, e.id, e.type, e.body, c.time_ms, c.commit_id, c.meta, e.stream, head.position as head
  from (select coalesce(max(position), 0) as position from log.commits) as head
  left join log.events e on e.position > $1 and e.position <= $1::bigint + $2::bigint and e.position <= head.position
    and (e.stream = any($3::text[]) or exists (
      select from unnest($4::text[]) as asked (beginning) where starts_with(e.stream, asked.beginning)))
  left join log.commits c on c.position = e.commit_position
  order by e.position`,
  "$5",
);

/**
 * Each stream is read by its index: the planner cannot know how few streams have a prefix, and would read the whole
 * log. A prefix is a range of the key: the character after the last of the prefix ends it.
 */
export const positionsStatement = `with asked as (
    select stream, first_partition, last_partition from log.streams where stream = any($1::text[])
    union
    select s.stream, s.first_partition, s.last_partition from unnest($2::text[]) as b (beginning)
    join log.streams s on s.stream >= b.beginning and s.stream < b.beginning || chr(1114111)
  )
  select e.position from asked cross join lateral (
    select position from log.events where stream = asked.stream and position > $3 order by version) e
  order by e.position`;

export const readAtStatement = pageOf(
  "position",
  `select e.position, e.version, e.id, e.type, e.body, c.time_ms, c.commit_id, c.meta, e.stream
  from log.events e left join log.commits c on c.position = e.commit_position
  where e.position = any($1::bigint[]) order by e.position`,
  "$2",
);
