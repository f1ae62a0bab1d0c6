/**
 * The baseline from npm: Emmett's event store on the same server, with expected versions and a pool of 32 connections.
 */
import { STREAM_DOES_NOT_EXIST } from "@event-driven-io/emmett";
import { getPostgreSQLEventStore } from "@event-driven-io/emmett-postgresql";
import pg from "pg";
import { body, eventType, meta, Streams } from "../support/payload.ts";

export type EmmettStore = AsyncDisposable & { appendOne(caller: number): Promise<void> };

export async function openEmmett(url: string, connections: number): Promise<EmmettStore> {
  const { INT8, JSON: json, JSONB } = pg.types.builtins;
  const pool = new pg.Pool({ connectionString: url, max: connections });
  const store = getPostgreSQLEventStore(url, { connectionOptions: { pooled: true, pool } });
  await store.schema.migrate();
  const streams = new Streams();
  return {
    async appendOne(caller) {
      const { stream, version, n } = streams.next(caller);
      // The store takes the event as an object and writes the JSON itself.
      const data = JSON.parse(body(n)) as Record<string, unknown>;
      await store.appendToStream(stream, [{ type: eventType, data, metadata: meta }], {
        expectedStreamVersion: version === 0 ? STREAM_DOES_NOT_EXIST : BigInt(version),
      });
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      if (!pool.ended) await pool.end();
      // Restores the type parsers, which the store has changed for the whole process; the other benchmarks need the
      // services' parsers.
      pg.types.setTypeParser(INT8, (text) => text);
      for (const type of [json, JSONB])
        pg.types.setTypeParser(type, (text) => JSON.parse(text) as unknown);
    },
  };
}
