import { createLogger } from "@trainyard/runtime";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { RetentionTable } from "./shell/retention-table.ts";
import { WordIndex } from "./shell/word-index.ts";
import { line } from "./testing/lines.ts";
import { TestLogs } from "./testing/test-logs.ts";

const lines = 10_000;
const needles = [17, 6_000, 9_999];
const textOf = (n: number): string =>
  `${needles.includes(n) ? "Needle found" : "step"}=${n} loss=${1 / (n + 1)} and some words of every line`;

let logs: TestLogs;
let pool: pg.Pool;
let index: WordIndex;

beforeAll(async () => {
  logs = await TestLogs.start();
  await logs.replica();
  pool = new pg.Pool({ connectionString: logs.stage.variables["TRAINYARD_POSTGRES_URL"], max: 2 });
  index = new WordIndex(pool);
  for (let from = 0; from < lines; from += 1_000) {
    // Lines of two experiments alternate, so that neither has consecutive positions.
    for (const run of ["1.1#1", "2.1#1"]) {
      const some = Array.from({ length: 1_000 }, (_, n) => line(run, from + n, textOf(from + n)));
      await logs.written(some);
    }
  }
});

afterAll(async () => {
  await pool.end();
  await logs[Symbol.asyncDispose]();
});

const chunksOf = (experiment: string) =>
  logs.stage.sql<{ first: string; last: string; bytes: number }>(
    `select first_position as first, last_position as last, octet_length(words) as bytes
     from logs.word_chunks where experiment = $1 order by first_position`,
    [experiment],
  );

/** The positions of an experiment's lines, in order. */
const positionsOf = async (experiment: string) =>
  (
    await logs.stage.sql<{ position: string }>(
      "select position from logs.lines where experiment = $1 order by position",
      [experiment],
    )
  ).map(({ position }) => position);

async function found(query: object): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (let after = "", more = true; more; ) {
    const page = await logs.page({ task: "1", after, ...query });
    numbers.push(...page.lines.map(({ line: own }) => own?.sequence ?? -1));
    ({ next: after, more } = page);
  }
  return numbers;
}

test("a search for words returns each line that contains them, before and after the lines are indexed", async () => {
  const two = new WordIndex(pool);
  const logger = createLogger("logs", "silent");
  expect(await found({ search: "needle FOUND" })).toEqual(needles);
  await vi.waitFor(
    async () => {
      // Two more indexers run concurrently with the replica's.
      await Promise.all([index.index(logger), two.index(logger)]);
      const text = "select from logs.experiments where unindexed_bytes >= 262144";
      expect(await logs.stage.sql(text)).toEqual([]);
    },
    { timeout: 90_000 },
  );
  const chunks = await chunksOf("1");
  expect(chunks.length).toBeGreaterThanOrEqual(2);
  expect(await found({ search: "needle FOUND" })).toEqual(needles);
  expect(await found({ search: "found needle", matches: "6.00" })).toEqual([6_000]);
  expect(await found({ search: "needle nowhere" })).toEqual([]);
  expect((await found({ search: "every 6000" })).includes(6_000)).toBe(true);
  const tail = await logs.page({ task: "1", search: "needle", tail: 2 });
  expect(tail.lines.map(({ line: own }) => own?.sequence)).toEqual([6_000, 9_999]);
});

test("chunks are consecutive, and a search skips those that lack a word", async () => {
  const [positions, chunks] = [await positionsOf("1"), await chunksOf("1")];
  expect(chunks[0]?.first).toBe(positions[0]);
  for (const [n, chunk] of chunks.entries()) {
    const next = chunks[n + 1];
    if (next !== undefined) {
      expect(positions.indexOf(next.first)).toBe(positions.indexOf(chunk.last) + 1);
    }
    // The chunk's text is about 350 KiB.
    expect(chunk.bytes).toBeLessThan(32 * 1024);
  }
  const [, second] = chunks;
  const needle = new Set(["needle"]);
  // The needle is in the first chunk.
  expect(await index.skip("1", needle, null)).toBe(null);
  expect(await index.skip("1", needle, positions[18] ?? "")).toBe(null);
  expect(await index.skip("1", new Set(["nowhere"]), null)).toBe(chunks.at(-1)?.last);
  const inSecond = await index.skip("1", new Set(["step", "7000"]), null);
  expect(inSecond).toBe(second === undefined ? null : String(BigInt(second.first) - 1n));
  expect(await index.skip("3", needle, null)).toBe(null);
});

test("a chunk is removed with the last of its lines", async () => {
  const kept = new RetentionTable(pool);
  const before = await chunksOf("2");
  await kept.removeOldest("2", null);
  const left = await positionsOf("2");
  expect(left).toHaveLength(lines - 5_000);
  const after = await chunksOf("2");
  expect(after).toEqual(before.filter(({ last }) => BigInt(last) >= BigInt(left[0] ?? "0")));
  expect(after.length).toBeLessThan(before.length);
  for (let removed = 1; removed > 0; ) removed = await kept.removeOldest("2", null);
  expect(await chunksOf("2")).toEqual([]);
});
