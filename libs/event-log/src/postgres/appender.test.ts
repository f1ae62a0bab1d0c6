import pg from "pg";
import { expect, test } from "vitest";
import { requestOf, writeOf } from "../contract/harness.ts";
import { logLimits } from "../limits.ts";
import type { AppendRequest } from "../port.ts";
import { Appender } from "./appender.ts";
import type { LazyConnection } from "./connection.ts";

const heavy = 200_000;

/** The payload of each commit, besides a small event. */
const kinds: Readonly<Record<string, (index: number) => Partial<AppendRequest>>> = {
  bodies: (index) => ({
    writes: [
      {
        ...writeOf(`trial-1.${index}`, 0),
        events: [{ ...writeOf("trial-1.1", 0).events[0], body: "x".repeat(heavy) } as never],
      },
    ],
  }),
  "parked reasons": (index) => ({
    cursor: {
      consumer: "experiments",
      partition: 0,
      position: index,
      part: 0,
      park: Array.from({ length: heavy / 4_000 }, (_, position) => ({
        position,
        key: "experiment-1",
        reason: "x".repeat(4_000),
      })),
    },
  }),
  guards: () => ({
    guards: Array.from({ length: heavy / 500 }, (_, guard) => ({
      stream: `trial-${guard}${"x".repeat(490)}`,
      expectedVersion: 0,
    })),
  }),
};

for (const [what, more] of Object.entries(kinds)) {
  test(`a batch has at most batchBytesMax bytes when its commits contain ${what}`, async () => {
    const sizes: number[] = [];
    const sent: number[] = [];
    // A fake server: accepts each commit and sums up the bytes.
    const connection: Pick<LazyConnection, "query"> = {
      query: async ({ values }) => {
        const bytes = (values ?? []).reduce((sum: number, value: unknown) => {
          return sum + (typeof value === "string" || Buffer.isBuffer(value) ? value.length : 0);
        }, 0);
        sizes.push(bytes);
        const count = String(values?.[0]).split(",").length;
        sent.push(count);
        return Array.from({ length: count }, (_, at) => [at + 1, "committed", at, null]) as never;
      },
    };
    const appender = new Appender(connection as LazyConnection);
    const requests = Array.from({ length: 200 }, (_, index) =>
      requestOf([writeOf(`trial-1.${index + 1}`, 0)], more(index + 1)),
    );
    const results = await Promise.all(requests.map((request) => appender.append(request)));
    expect(results.map(({ kind }) => kind)).toEqual(results.map(() => "committed"));
    expect(sent.reduce((sum, count) => sum + count)).toBe(200);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(logLimits.batchBytesMax * 1.1);
  });
}

test("an appender tells the fault of each refused statement, and when the database takes one again", async () => {
  let isFull = true;
  const connection: Pick<LazyConnection, "query"> = {
    query: async () => {
      if (!isFull) return [[1, "committed", 1, null]] as never;
      const error = new pg.DatabaseError("could not extend file", 0, "error");
      throw Object.assign(error, { code: "53100" });
    },
  };
  const told: (string | null)[] = [];
  const appender = new Appender(connection as LazyConnection, (fault) =>
    told.push(fault?.code ?? null),
  );
  const append = () => appender.append(requestOf([writeOf("trial-1.1", 0)], {}));
  await expect(append()).rejects.toMatchObject({
    code: "log_full",
    message: "the disk of the log's database is full while appending: could not extend file",
  });
  isFull = false;
  await append();
  expect(told).toEqual(["log_full", null]);
});
