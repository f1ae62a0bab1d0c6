/**
 * The costs of an append and of a read while an old snapshot stays open, and with many partitions. The unit is shared
 * buffer pages touched, which other work on the machine does not change.
 */
import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { committed, requestOf, writeOf } from "../contract/harness.ts";
import type { AppendRequest } from "../port.ts";
import { appendArguments, appendStatement } from "./batch.ts";
import {
  dividePartitions,
  emptyLog,
  type PostgresUnderTest,
  prepareServer,
} from "../testing/postgres-harness.ts";

let server: TestPostgres;
let subject: PostgresUnderTest;
let client: pg.Client;
const connect = async (user: string): Promise<pg.Client> => {
  const connected = new pg.Client({
    connectionString: server.url({ user, database: "trainyard" }),
  });
  await connected.connect();
  return connected;
};

type Plan = { readonly "Shared Hit Blocks": number; readonly "Shared Read Blocks": number };

/** Returns the pages that a statement touches, including those of its functions. */
async function pagesOf(text: string, values: unknown[]): Promise<number> {
  const { rows } = await client.query<{ "QUERY PLAN": [{ readonly Plan: Plan }] }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  const plan = rows[0]?.["QUERY PLAN"][0].Plan;
  return (plan?.["Shared Hit Blocks"] ?? 0) + (plan?.["Shared Read Blocks"] ?? 0);
}

/** Returns the minimum of several measurements, without the catalog reads of a first call. */
async function least(measure: () => Promise<number>): Promise<number> {
  let pages = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 8; time += 1) pages = Math.min(pages, await measure());
  return pages;
}

const pagesOfAppend = (request: AppendRequest): Promise<number> =>
  pagesOf(appendStatement, appendArguments([request]));

describe("while a snapshot stays open", () => {
  beforeAll(async () => {
    server = await startTestPostgres();
    await prepareServer(server);
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    subject = await emptyLog(server);
    client = await connect("ty_experiments");
  });
  afterEach(async () => {
    await client.end();
    await subject[Symbol.asyncDispose]();
  });

  const lease = "experiments/0";
  const moves = 5_000;

  test("an append to a hot stream, with a busy cursor and a lease, touches no more pages than before", async () => {
    const log = subject.as("ty_experiments");
    await committed(log, [writeOf("experiment-1", 0), writeOf("trial-1.1", 0, 3)]);
    const epoch = (await log.acquireLease(lease, "me", 60_000))?.epoch ?? 0;
    const fence = { lease, epoch, owner: "me" };
    const [first] = await log.readAll(0, 1);
    const seen = { position: 1, id: first?.id ?? "" };
    const guards = [{ stream: "experiment-1", expectedVersion: 1 }];
    let version = 3;
    let part = 0;
    const append = (): Promise<number> => {
      const cursor = { consumer: "experiments", partition: 0, position: 1, part: (part += 1) };
      const writes = [writeOf("trial-1.1", version)];
      version += 1;
      return pagesOfAppend(requestOf(writes, { fence, seen, cursor, guards }));
    };
    const before = await least(append);
    const reader = await connect("ty_reader");
    await reader.query("begin isolation level repeatable read");
    await reader.query("select count(*) from log.events");

    // Thousands of commits to one stream, lazy moves of one cursor and renewals of one lease, each in a separate
    // transaction.
    const meta =
      '{"source":"/trainyard/experiments","workspace":"","correlationid":"","causationid":"","authid":"","traceparent":""}';
    await client.query(`do $$ begin for n in 1 .. ${moves} loop
      perform log.append(array[gen_random_uuid()], array['${meta}'], array[null::text], array[null::bigint],
        array[null::text], array[null::integer], array[null::bigint], array[null::integer],
        array[1], array['trial-1.1'], array[${version} + n], array[gen_random_uuid()], array['t'], array['{}'],
        '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
        array[null::text], array[null::bigint], array[null::uuid]);
      perform log.move_cursor('experiments', 0, 2, n, '${lease}', ${epoch}, 'me', null, null);
      perform log.acquire_lease('${lease}', 'me', 60000);
      commit;
    end loop; end $$`);
    version += moves;
    part = moves + 100;
    const position = 2;
    const after = await least(() => {
      const cursor = { consumer: "experiments", partition: 0, position, part: (part += 1) };
      const writes = [writeOf("trial-1.1", version)];
      version += 1;
      return pagesOfAppend(requestOf(writes, { fence, seen, cursor, guards }));
    });
    const renewal = await least(() =>
      pagesOf("select * from log.acquire_lease($1, $2, $3)", [lease, "me", 60_000]),
    );
    const { rows } = await reader.query("select count(*)::int as events from log.events");
    expect(rows).toEqual([{ events: 4 + 8 }]);
    await reader.end();
    // Each of seven indexes may be one level deeper, which costs a page per lookup.
    expect(after - before).toBeLessThanOrEqual(16);
    expect(renewal).toBeLessThanOrEqual(20);
  });
});

describe("without ANALYZE after the log has grown", () => {
  beforeAll(async () => {
    server = await startTestPostgres({ settings: { autovacuum: "off" } });
    await prepareServer(server);
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    subject = await emptyLog(server);
  });
  afterEach(() => subject[Symbol.asyncDispose]());

  test("a batch on a new connection touches no more pages than on an empty log", async () => {
    const log = subject.as("ty_experiments");
    let version = 0;
    /** Eight commits in one batch, each to a separate stream. */
    const pagesOfBatch = async (): Promise<number> => {
      client = await connect("ty_experiments");
      const pages = await least(() => {
        version += 1;
        const requests = Array.from({ length: 8 }, (_, trial) =>
          requestOf([writeOf(`trial-1.${trial + 1}`, version - 1)]),
        );
        return pagesOf(appendStatement, appendArguments(requests));
      });
      await client.end();
      return pages;
    };
    const before = await pagesOfBatch();
    for (let time = 0; time < 40; time += 1) {
      await Promise.all(
        Array.from({ length: 250 }, (_, trial) =>
          committed(log, [writeOf(`trial-2.${trial + 1}`, time)]),
        ),
      );
    }
    // Each of seven indexes may be one level deeper, which costs a page per lookup; each commit makes one or two
    // lookups per index.
    expect((await pagesOfBatch()) - before).toBeLessThanOrEqual(2 * 7 * 8);
  });
});

describe("with many partitions", () => {
  const events = 20;
  beforeEach(async () => {
    server = await startTestPostgres();
    await prepareServer(server);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  /** Fills a log up to a number of partitions, then measures a read of an old stream and an append. */
  async function costs(partitions: number) {
    await dividePartitions(server, events, partitions + 1);
    subject = await emptyLog(server);
    client = await connect("ty_experiments");
    const log = subject.as("ty_experiments");
    await committed(log, [writeOf("experiment-1", 0, 5)]);
    for (let trial = 1; trial < partitions; trial += 1) {
      await committed(log, [writeOf(`trial-1.${trial}`, 0, events)]);
    }
    await committed(log, [writeOf("trial-9.9", 0)]);
    const text = "select * from log.read_stream($1, $2, $3)";
    const read = await least(() => pagesOf(text, ["experiment-1", 0, 500]));
    let version = 1;
    const append = await least(() => {
      const writes = [writeOf("trial-9.9", version)];
      version += 1;
      return pagesOfAppend(requestOf(writes));
    });
    expect((await log.read("experiment-1", 0, 500)).length).toBe(5);
    await client.end();
    await subject[Symbol.asyncDispose]();
    return { read, append };
  }

  test("reading a stream and appending to one touch no more pages than with one partition", async () => {
    const few = await costs(1);
    await server[Symbol.asyncDispose]();
    server = await startTestPostgres();
    await prepareServer(server);
    const many = await costs(100);
    expect(many.read - few.read).toBeLessThanOrEqual(4);
    expect(many.append - few.append).toBeLessThanOrEqual(8);
  });

  test("a stream's row changes only when the stream enters a partition, and records where it begins and ends", async () => {
    await dividePartitions(server, events, 10);
    subject = await emptyLog(server);
    const log = subject.as("ty_experiments");
    const rows = () =>
      subject.sql(
        "select stream, first_partition, last_partition, xmin::text from log.streams order by 1",
      );
    await committed(log, [writeOf("experiment-1", 0, 3)]);
    const first = await rows();
    expect(first).toMatchObject([
      { stream: "experiment-1", first_partition: 0, last_partition: 0 },
    ]);
    for (let version = 3; version < 19; version += 1) {
      await committed(log, [writeOf("experiment-1", version)]);
    }
    // The log is at position 19 of 20, and the stream's row is unchanged.
    expect(await rows()).toEqual(first);
    // Two events on both sides of the boundary, a stream that begins beyond it, and a commit that spans two partitions.
    await committed(log, [writeOf("experiment-1", 19, 2)]);
    await committed(log, [writeOf("trial-1.1", 0)]);
    await committed(log, [writeOf("trial-1.2", 0, 50)]);
    const jumped = await rows();
    expect(jumped).toMatchObject([
      { stream: "experiment-1", first_partition: 0, last_partition: 1 },
      { stream: "trial-1.1", first_partition: 1, last_partition: 1 },
      { stream: "trial-1.2", first_partition: 1, last_partition: 3 },
    ]);
    await Promise.all([
      committed(log, [writeOf("trial-1.1", 1)]),
      committed(log, [writeOf("experiment-1", 21)]),
      log.append(requestOf([writeOf("experiment-1", 9)])),
    ]);
    expect(await rows()).toMatchObject([
      { stream: "experiment-1", first_partition: 0, last_partition: 3 },
      { stream: "trial-1.1", first_partition: 1, last_partition: 3 },
      { stream: "trial-1.2", first_partition: 1, last_partition: 3 },
    ]);
    const versions = (await log.read("experiment-1", 0, 100)).map(({ version }) => version);
    expect(versions).toEqual(Array.from({ length: 22 }, (_, index) => index + 1));
    await subject[Symbol.asyncDispose]();
  });
});
