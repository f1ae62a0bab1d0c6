import { LogLevel, LogSource } from "@trainyard/contracts/commands";
import { isRejection } from "@trainyard/kernel";
import { newApiToken } from "@trainyard/kernel/api-token";
import { runToken } from "@trainyard/runtime";
import { describe, expect, test } from "vitest";
import { logsLimits } from "../limits.ts";
import { line } from "../testing/lines.ts";
import { parseBatch } from "./batch.ts";

const parse = (...lines: readonly ReturnType<typeof line>[]) =>
  parseBatch({ agent: "agent-1", lines, tokens: [] }, logsLimits);

test("a line has its experiment, trial and run, its process's rank, and the level that its text states", () => {
  expect(parse(line("12.3#2", 7, "ERROR hello", { nodeRank: 1, rank: 5 }))).toEqual([
    {
      experiment: "12",
      trial: "12.3",
      run: 2,
      nodeRank: 1,
      sequence: 7,
      atMs: 1_700_000_000_007,
      source: LogSource.STDOUT,
      continued: false,
      text: "ERROR hello",
      rank: 5,
      level: LogLevel.ERROR,
    },
  ]);
});

test("a line of a task has the task in the place of experiment and trial", () => {
  expect(parse(line("t12#2", 7, "hello"))).toMatchObject([
    { experiment: "t12", trial: "t12", run: 2, sequence: 7 },
  ]);
});

test("a line of a process without a rank has no rank", () => {
  expect(parse(line("12.3#2", 7, "hello"))).toMatchObject([
    { rank: null, level: LogLevel.UNSPECIFIED },
  ]);
});

describe("a token that a program prints", () => {
  const ofRun = runToken(
    { id: "1ede961c", secret: Buffer.from("secret") },
    { allocation: "t2#1", grantPosition: 47, grantId: "01a22e7e-b050-72df-b63b-ad19004f4be8" },
  );
  const ofPerson = newApiToken("0123456789abcdef").text;
  const stored = (text: string) => {
    const rows = parse(line("t12#2", 7, text));
    return isRejection(rows) ? rows : rows[0]?.text;
  };

  test("is stored without its secret: everybody who sees the log could use it", () => {
    expect(stored(`TRAINYARD_TOKEN=${ofRun}`)).toBe("TRAINYARD_TOKEN=ty1.<masked>");
    expect(stored(`{"a":"${ofRun}","b":"${ofPerson}"}`)).toBe(
      '{"a":"ty1.<masked>","b":"ty_0123456789abcdef_<masked>"}',
    );
  });

  test.each(["\u001b[32m", "TRAINYARD_TOKEN%3D", String.raw`{"text":"a\n`, "token_"])(
    "is stored without its secret after %j, too",
    (before) => {
      expect(stored(`${before}${ofRun}`)).toBe(`${before}ty1.<masked>`);
      expect(stored(`${before}${ofPerson}`)).toBe(`${before}ty_0123456789abcdef_<masked>`);
    },
  );

  test("is known by its whole form: other texts are stored as they are", () => {
    for (const text of ["ty1.abc", "ty_0123456789abcdef_short", "party1.x ty_model", ""]) {
      expect(stored(text)).toBe(text);
    }
  });
});

test("an empty batch is valid", () => {
  expect(parse()).toEqual([]);
});

describe("an error names the path of the wrong value", () => {
  const good = line("12.3#2", 1, "x");
  const long = "é".repeat(logsLimits.lineBytesMax / 2 + 1);
  test.each([
    ["lines[0].allocation", [{ ...good, allocation: "12.3" }]],
    ["lines[1].sequence", [good, { ...good, sequence: 0.5 }]],
    ["lines[0].sequence", [{ ...good, sequence: -1 }]],
    ["lines[0].atMs", [{ ...good, atMs: Number.NaN }]],
    ["lines[0].nodeRank", [{ ...good, nodeRank: 2 ** 32 - 1 }]],
    ["lines[0].rank", [{ ...good, rank: 2 ** 32 - 1 }]],
    ["lines[0].source", [{ ...good, source: LogSource.UNSPECIFIED }]],
    ["lines[0].text", [{ ...good, text: long }]],
  ])("%s", (path, lines) => {
    const parsed = parse(...lines);
    expect(isRejection(parsed) ? parsed.problems : []).toMatchObject([{ path }]);
  });

  test("for a batch that is too large as a whole", () => {
    const text = "x".repeat(logsLimits.lineBytesMax);
    const lines = Array.from({ length: 13 }, (_, n) => line("12.3#2", n, text));
    expect(parse(...lines)).toMatchObject({ rejected: "batch_too_large" });
  });
});
