/** The baselines: an events table without the log's guarantees, written with prepared statements over `pg`. */
import pg from "pg";
import { body, eventType, metaJson, Streams } from "../support/payload.ts";

const table = `create table ev (
  position bigint generated always as identity primary key,
  stream_id text not null,
  version integer not null,
  type text not null,
  data jsonb not null,
  metadata jsonb not null,
  unique (stream_id, version)
)`;

export type RawTable = AsyncDisposable & {
  insertOne(caller: number): Promise<void>;
  insertMany(caller: number, count: number): Promise<void>;
};

export async function openRaw(url: string, connections: number): Promise<RawTable> {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  await pool.query("drop table if exists ev");
  await pool.query(table);
  const streams = { one: new Streams(), many: new Streams() };
  return {
    async insertOne(caller) {
      const { stream, version, n } = streams.one.next(caller);
      await pool.query({
        name: "insert_one",
        text: "insert into ev (stream_id, version, type, data, metadata) values ($1, $2, $3, $4, $5)",
        values: [stream, version + 1, eventType, body(n), metaJson],
      });
    },
    async insertMany(caller, count) {
      const { stream, version, n } = streams.many.next(caller, count);
      const numbers = Array.from({ length: count }, (_, index) => index);
      await pool.query({
        name: "insert_many",
        text: `insert into ev (stream_id, version, type, data, metadata)
          select * from unnest($1::text[], $2::int[], $3::text[], $4::jsonb[], $5::jsonb[])`,
        values: [
          numbers.map(() => stream),
          numbers.map((index) => version + index + 1),
          numbers.map(() => eventType),
          numbers.map((index) => body(n + index)),
          numbers.map(() => metaJson),
        ],
      });
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}
