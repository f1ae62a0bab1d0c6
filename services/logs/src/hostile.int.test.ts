/**
 * Malformed commands, as no agent and no gateway sends them: each one is answered or refused with a reason, and the
 * service continues.
 */
import { LogLevel, LogSource } from "@trainyard/contracts/commands";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { line } from "./testing/lines.ts";
import { TestLogs } from "./testing/test-logs.ts";

let logs: TestLogs;

beforeAll(async () => {
  logs = await TestLogs.start();
  await logs.replica();
});

afterAll(() => logs[Symbol.asyncDispose]());

const text = fc.oneof(
  fc.constantFrom("1.1", "1", "", "a\0", "\ud800", "(a+)+$", "[", "9".repeat(400), "-1", "1e9"),
  fc.string({ unit: "binary", maxLength: 40 }),
);
const count = fc.oneof(fc.nat({ max: 2 ** 32 - 1 }), fc.constantFrom(0, 1));
const double = fc.oneof(fc.double(), fc.constantFrom(-1, 0.5, 2 ** 53, 1e308));

test("no query causes a fault, however malformed", async () => {
  await logs.written([line("1.1#1", 1, "a line")]);
  const one = fc.record(
    {
      ...{ task: text, after: text, before: text, limit: count, tail: count },
      ...{ run: count, nodeRank: count, rank: count, fromMs: double, untilMs: double },
      source: fc.constantFrom(LogSource.UNSPECIFIED, LogSource.STDERR),
      level: fc.constantFrom(LogLevel.UNSPECIFIED, LogLevel.ERROR),
      ...{ contains: text, search: text, matches: text },
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(one, async (query) => {
      const answer = await logs.ask({ task: "1.1", ...query });
      expect(["ok", "rejected"]).toContain(answer.kind);
      expect(answer).not.toMatchObject({ rejection: { rejected: "internal" } });
    }),
    { numRuns: 150 },
  );
  expect(await logs.texts({ task: "1.1" })).toEqual(["a line"]);
});

test("a run or rank with a number that no line can have is found in no line", async () => {
  await logs.written([line("4.1#1", 1, "a line")]);
  for (const most of [2 ** 31, 2 ** 32 - 1]) {
    for (const field of ["run", "nodeRank", "rank"] as const) {
      expect(await logs.texts({ task: "4.1", [field]: most })).toEqual([]);
    }
  }
});

test("no batch causes a fault, however malformed", async () => {
  const odd = fc.record({
    allocation: fc.oneof(text, fc.constant("2.1#1")),
    ...{ nodeRank: count, sequence: double, atMs: double, text, rank: count },
  });
  await fc.assert(
    fc.asyncProperty(fc.array(odd, { minLength: 1, maxLength: 3 }), async (lines) => {
      const batch = lines.map((one) => ({ ...line("2.1#1", 1, ""), ...one }));
      const answer = await logs.write(batch);
      expect(["ok", "rejected"]).toContain(answer.kind);
      expect(answer).not.toMatchObject({ rejection: { rejected: "internal" } });
    }),
    { numRuns: 100 },
  );
  await logs.written([line("3.1#1", 1, "after all")]);
  expect(await logs.texts({ task: "3.1" })).toEqual(["after all"]);
});
