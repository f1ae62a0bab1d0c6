import { LogLevel, LogSource } from "@trainyard/contracts/commands";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { logsLimits } from "./limits.ts";
import { line, slowPattern, slowTexts } from "./testing/lines.ts";
import { TestLogs } from "./testing/test-logs.ts";

let logs: TestLogs;
let experiments = 100;

const newTask = (): string => {
  experiments += 1;
  return `${experiments}.1`;
};

beforeAll(async () => {
  logs = await TestLogs.start();
  await logs.replica();
});

afterAll(async () => {
  await logs[Symbol.asyncDispose]();
});

describe("a stored line", () => {
  test("has its process's rank, its level, its own time and when it was received", async () => {
    const task = newTask();
    const beganMs = Date.now() - 60_000;
    const text = "[rank=3] ERROR no shard";
    await logs.written([line(`${task}#1`, 1, text, { rank: 3, atMs: 5 })]);
    const { lines } = await logs.page({ task });
    expect(lines).toMatchObject([{ line: { text, rank: 3, atMs: 5 }, level: LogLevel.ERROR }]);
    expect(lines[0]?.receivedAtMs).toBeGreaterThan(beganMs);
  });
});

test("lines of a task are stored once under its id, apart from the experiment with its number, and announced", async () => {
  const number = newTask().split(".")[0] ?? "";
  const task = `t${number}`;
  const announced = vi.fn<() => void>();
  await using _ = await logs.stage.hub.connect("gateway").tailLive(`ty.log.${task}`, announced);
  await logs.written([
    ...[1, 2, 3].map((n) => line(`${task}#1`, n, `line ${n}`)),
    line(`${task}#2`, 1, "second", { source: LogSource.AGENT }),
    line(`${number}.1#1`, 1, "of a trial"),
  ]);
  await logs.written([3, 4].map((n) => line(`${task}#1`, n, `line ${n}`)));
  expect(await logs.texts({ task })).toEqual(["line 1", "line 2", "line 3", "second", "line 4"]);
  expect(await logs.texts({ task, run: 2 })).toEqual(["second"]);
  expect(await logs.texts({ task, tail: 2 })).toEqual(["second", "line 4"]);
  expect(await logs.texts({ task: number })).toEqual(["of a trial"]);
  const [first] = (await logs.page({ task, limit: 1 })).lines;
  expect(first).toMatchObject({ trial: task, run: 1, line: { allocation: `${task}#1` } });
  expect(await logs.texts({ task, after: first?.cursor ?? "", limit: 2 })).toEqual([
    "line 2",
    "line 3",
  ]);
  expect(await logs.write([line(`${task}#3`, 1, "forged")], [])).toMatchObject({
    rejection: { rejected: "not_your_run" },
  });
  await vi.waitFor(() => expect(announced).toHaveBeenCalledTimes(2));
});

describe("lines are filtered", () => {
  test("by rank, level and time, alone and together", async () => {
    const task = newTask();
    await logs.written([
      line(`${task}#1`, 1, "INFO a", { rank: 0, atMs: 10 }),
      line(`${task}#1`, 2, "WARNING b", { rank: 1, atMs: 20 }),
      line(`${task}#1`, 3, "ERROR c", { rank: 1, atMs: 30 }),
      line(`${task}#1`, 4, "d", { atMs: 40 }),
    ]);
    expect(await logs.texts({ task, rank: 1 })).toEqual(["WARNING b", "ERROR c"]);
    expect(await logs.texts({ task, rank: 0 })).toEqual(["INFO a"]);
    expect(await logs.texts({ task, level: LogLevel.WARNING })).toEqual(["WARNING b", "ERROR c"]);
    expect(await logs.texts({ task, fromMs: 20, untilMs: 40 })).toEqual(["WARNING b", "ERROR c"]);
    expect(await logs.texts({ task, rank: 1, level: LogLevel.ERROR, fromMs: 30 })).toEqual([
      "ERROR c",
    ]);
  });

  test("by a regular expression in RE2's syntax, and by words in either case", async () => {
    const task = newTask();
    const texts = ["loss=0.5 nan", "loss=0.25", "Loss of signal, GPU 7", "GPUs lost"];
    await logs.written(texts.map((text, n) => line(`${task}#1`, n, text)));
    expect(await logs.texts({ task, matches: "^loss=\\d" })).toEqual(texts.slice(0, 2));
    expect(await logs.texts({ task, matches: "(?i)^loss.*(nan|7)$" })).toEqual([
      texts[0],
      texts[2],
    ]);
    expect(await logs.texts({ task, search: "gpu loss" })).toEqual([texts[2]]);
    expect(await logs.texts({ task, search: "LOSS", matches: "nan" })).toEqual([texts[0]]);
    expect(await logs.texts({ task, search: "signa" })).toEqual([]);
  });

  test("by an expression that hangs a backtracking engine, without delaying other readers", async () => {
    const [slow, other] = [newTask(), newTask()];
    const text = `${"a".repeat(16_383)}b`;
    const lines = Array.from({ length: 40 }, (_, n) => line(`${slow}#1`, n, text));
    await logs.written(lines);
    await logs.written([line(`${other}#1`, 1, "quick")]);
    const asked = logs.page({ task: slow, matches: "(a+)+$" });
    let answered = false;
    void asked.then(() => {
      answered = true;
    });
    expect(await logs.texts({ task: other })).toEqual(["quick"]);
    expect(answered).toBe(false);
    expect((await asked).lines).toEqual([]);
  });

  test("in answers of bounded work, each with a cursor for the next answer, in both directions", async () => {
    const task = newTask();
    const count = 2 * logsLimits.linesPerStepMax + 10;
    const lines = Array.from({ length: count }, (_, n) =>
      line(`${task}#1`, n, n === 3 || n === count - 3 ? "needle" : "hay"),
    );
    for (let from = 0; from < count; from += 1_000) {
      await logs.written(lines.slice(from, from + 1_000));
    }
    expect(await logs.texts({ task, contains: "needle" })).toEqual(["needle", "needle"]);
    const first = await logs.page({ task, search: "needle", limit: 1 });
    expect(first).toMatchObject({ more: true, lines: [{ line: { sequence: 3 } }] });
    const second = await logs.page({ task, search: "needle", limit: 1, after: first.next });
    expect(second).toMatchObject({ lines: [{ line: { sequence: count - 3 } }] });
    const rest = await logs.page({ task, search: "needle", limit: 1, after: second.next });
    expect(rest).toMatchObject({ more: false, lines: [] });
    const last = await logs.page({ task, matches: "need", tail: 1 });
    expect(last).toMatchObject({ lines: [{ line: { sequence: count - 3 } }] });
    const before = await logs.page({ task, matches: "need", tail: 1, before: last.next });
    expect(before).toMatchObject({ lines: [{ line: { sequence: 3 } }] });
  });
});

test("an answer with a slow expression ends when its time is used up, and the next answer continues", async () => {
  const task = newTask();
  const texts = [...slowTexts(20), `${"a".repeat(401)}c`];
  await logs.written(texts.map((text, n) => line(`${task}#1`, n, text)));
  const [pages, found]: [number[], number[]] = [[], []];
  for (let [after, more] = ["", true]; more; ) {
    const page = await logs.page({ task, matches: slowPattern, after });
    [after, more] = [page.next, page.more];
    pages.push(page.lines.length);
    found.push(...page.lines.map(({ line: stored }) => stored?.sequence ?? -1));
  }
  expect(found).toEqual([20]);
  expect(pages.length).toBeGreaterThan(1);
});

describe("a range of lines", () => {
  test("between two cursors is also read backwards, page by page", async () => {
    const task = newTask();
    await logs.written(Array.from({ length: 10 }, (_, n) => line(`${task}#1`, n, String(n))));
    const { lines } = await logs.page({ task });
    const cursorOf = (n: number): string => lines[n]?.cursor ?? "";
    expect(await logs.texts({ task, after: cursorOf(2), before: cursorOf(5) })).toEqual(["3", "4"]);
    const seen: string[][] = [];
    let before = "";
    do {
      const page = await logs.page({ task, tail: 4, before });
      seen.push(page.lines.map(({ line: stored }) => stored?.text ?? ""));
      before = page.next;
    } while (before !== "");
    expect(seen).toEqual([
      ["6", "7", "8", "9"],
      ["2", "3", "4", "5"],
      ["0", "1"],
    ]);
  });

  test.each([1, 3, 100])(
    "between two times is read in both directions in pages of %i, apart from another trial's lines",
    async (limit) => {
      const task = newTask();
      const other = `${task.split(".")[0]}.99`;
      const atMs = (n: number): number => 1_700_000_000_000 + Math.floor(n / 2);
      for (let n = 0; n < 14; n += 2) {
        const two = [n, n + 1].map((at) => line(`${task}#1`, at, String(at), { atMs: atMs(at) }));
        await logs.written([...two, line(`${other}#1`, n, "other", { atMs: atMs(n) })]);
      }
      const [forwards, backwards]: [string[], string[]] = [[], []];
      for (let [after, more] = ["", true]; more; ) {
        const page = await logs.page({ task, limit, after, fromMs: atMs(5) });
        forwards.push(...page.lines.map(({ line: stored }) => stored?.text ?? ""));
        [after, more] = [page.next, page.more];
      }
      for (let [before, more] = ["", true]; more; ) {
        const page = await logs.page({ task, tail: limit, before, untilMs: atMs(5) });
        backwards.unshift(...page.lines.map(({ line: stored }) => stored?.text ?? ""));
        [before, more] = [page.next, page.next !== ""];
      }
      // Lines 4 and 5 have the same time.
      expect(forwards).toEqual(["4", "5", "6", "7", "8", "9", "10", "11", "12", "13"]);
      expect(backwards).toEqual(["0", "1", "2", "3"]);
    },
  );

  test("continues with new lines after its end, past lines that the filter left out", async () => {
    const task = newTask();
    await logs.written([line(`${task}#1`, 1, "hay"), line(`${task}#1`, 2, "hay")]);
    const { next, more } = await logs.page({ task, contains: "needle" });
    expect(more).toBe(false);
    const { lines } = await logs.page({ task });
    expect(next).toBe(lines.at(-1)?.cursor);
    await logs.written([line(`${task}#1`, 3, "needle")]);
    expect(await logs.texts({ task, contains: "needle", after: next })).toEqual(["needle"]);
  });
});

test("an invalid filter is refused with its reason", async () => {
  const refusals = await Promise.all([
    logs.refusal({ task: "12", matches: "(" }),
    logs.refusal({ task: "12", matches: "(a)\\1" }),
    logs.refusal({ task: "12", matches: "a".repeat(1_001) }),
    logs.refusal({ task: "12", matches: "(\\pL{30}){30}(\\pL{30}){30}" }),
    logs.refusal({ task: "12", search: "--" }),
    logs.refusal({ task: "12", before: "one" }),
  ]);
  expect(refusals.map(({ problems }) => problems?.map(({ path }) => path))).toEqual([
    ["matches"],
    ["matches"],
    ["matches"],
    ["matches"],
    ["search"],
    ["before"],
  ]);
});
