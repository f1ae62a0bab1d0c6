import { codecOf, type Plain } from "@trainyard/contracts";
import { type LinePage, LinePageSchema, LogSource } from "@trainyard/contracts/commands";
import { newEventId } from "@trainyard/event-log";
import { runToken } from "@trainyard/runtime";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { line } from "./testing/lines.ts";
import { TestLogs } from "./testing/test-logs.ts";

let logs: TestLogs;
let pool: pg.Pool;
let experiments = 0;
let nextInsert: "never" | "before_commit" | "after_commit" = "never";

/** Returns the id of a new experiment for one test. */
const newExperiment = (): string => {
  experiments += 1;
  return String(experiments);
};

const numbered = (run: string, from: number, to: number, nodeRank = 0) =>
  Array.from({ length: to - from + 1 }, (_, n) =>
    line(run, from + n, `${nodeRank}:${from + n}`, { nodeRank }),
  );

const textsOf = (lines: readonly { readonly text: string }[]) => lines.map(({ text }) => text);

beforeAll(async () => {
  logs = await TestLogs.start();
  pool = breakablePool();
  await logs.replica({ pool });
});

afterAll(async () => {
  await pool.end();
  await logs[Symbol.asyncDispose]();
});

describe("lines", () => {
  test("rejected by the table are refused alone, and lines of other agents in the same write are stored", async () => {
    const admin = new pg.Client(logs.stage.url());
    await admin.connect();
    await admin.query("alter table logs.lines add constraint taste check (line <> 'odd')");
    const experiment = newExperiment();
    const texts = ["a", "b", "c", "d", "odd", "e", "f", "g"];
    const answers = await Promise.all(
      texts.map((text, n) => logs.write([line(`${experiment}.1#1`, n, text)])),
    );
    await admin.query("alter table logs.lines drop constraint taste");
    await admin.end();
    expect(answers.map(({ kind }) => kind)).toEqual(
      texts.map((text) => (text === "odd" ? "rejected" : "ok")),
    );
    expect(answers[4]).toMatchObject({ rejection: { rejected: "unstorable" } });
    const stored = await logs.texts({ task: `${experiment}.1` });
    // The agents write at the same time: only the lines of one batch have an order.
    expect(stored.toSorted()).toEqual(texts.filter((text) => text !== "odd"));
  });

  test("are accepted only with their run's token, and a forged line takes no sequence number", async () => {
    const experiment = newExperiment();
    const [mine, other] = [`${experiment}.1#1`, `${experiment}.2#1`];
    const forged = [line(mine, 1, "mine"), line(other, 1, "forged")];
    for (const tokens of [[], [logs.token(mine)]]) {
      const refused = await logs.write(forged, tokens);
      expect(refused).toMatchObject({ kind: "rejected", rejection: { rejected: "not_your_run" } });
    }
    expect(await logs.texts({ task: experiment })).toEqual([]);
    await logs.written([line(other, 1, "true")]);
    expect(await logs.texts({ task: experiment })).toEqual(["true"]);
  });

  test("with a token of an unknown key are neither refused nor stored: they wait at their agent", async () => {
    const run = `${newExperiment()}.1#1`;
    const otherKey = { id: "1", secret: Buffer.alloc(32, 6) };
    const other = { allocation: run, grantPosition: 1, grantId: newEventId() };
    for (const token of ["ty1.1.x.1.y", runToken(otherKey, other)]) {
      expect(await logs.write([line(run, 1, "early")], [token])).toEqual({ kind: "unavailable" });
    }
    await logs.written([line(run, 1, "early")]);
    expect(await logs.texts({ task: run.slice(0, -2) })).toEqual(["early"]);
  });

  test("are returned with the epoch of their table, the same on every page", async () => {
    const experiment = newExperiment();
    const none = await logs.page({ task: experiment });
    await logs.written(numbered(`${experiment}.1#1`, 1, 3));
    const some = await logs.page({ task: experiment, limit: 1 });
    expect(none.epoch).toMatch(/^[0-9a-f]{8}$/);
    expect(some).toMatchObject({ epoch: none.epoch, more: true });
  });

  test("have another epoch after a restored dump recreated their table", async () => {
    const task = newExperiment();
    const { epoch } = await logs.page({ task });
    const admin = new pg.Client(logs.stage.url());
    await admin.connect();
    await admin.query("alter table logs.lines rename to lines_before");
    await admin.query("create table logs.lines (like logs.lines_before including all)");
    await admin.query("grant select on logs.lines to public");
    const restored = await logs.page({ task });
    await admin.query("drop table logs.lines");
    await admin.query("alter table logs.lines_before rename to lines");
    await admin.end();
    expect(restored.epoch).not.toBe(epoch);
    expect((await logs.page({ task })).epoch).toBe(epoch);
  });

  test("are returned as they were written, with their trial and run", async () => {
    const trial = `${newExperiment()}.3`;
    const texts = [
      "",
      "a\0b\u0001c",
      "\u001b[31mred\u001b[0m",
      "50%|█████     | 😀",
      "\\u0000",
      "  ",
    ];
    const lines = texts.map((text, n) => line(`${trial}#2`, n, text));
    const last = line(`${trial}#2`, 99, "x", {
      continued: true,
      source: LogSource.STDERR,
      atMs: 0.5,
    });
    await logs.written([...lines, last]);
    const page = await logs.page({ task: trial });
    expect(page.lines.map(({ line: stored }) => stored)).toEqual([...lines, last]);
    expect(page.lines.map(({ run }) => run)).toEqual(Array.from({ length: 7 }, () => 2));
    expect(page.more).toBe(false);
  });

  test("that an agent resends after its restart are stored once", async () => {
    const run = `${newExperiment()}.1#1`;
    await logs.written(numbered(run, 1, 10));
    await logs.written(numbered(run, 6, 15));
    await logs.written(numbered(run, 1, 15));
    expect(await logs.texts({ task: run.slice(0, -2) })).toEqual(textsOf(numbered(run, 1, 15)));
  });

  test("sent to two replicas at once are stored once, in order for each node", async () => {
    const run = `${newExperiment()}.1#1`;
    const other = await logs.replica();
    const batches = [0, 1, 2].flatMap((rank) => [
      numbered(run, 1, 200, rank),
      numbered(run, 1, 200, rank),
    ]);
    await Promise.all(batches.map((batch) => logs.written(batch)));
    await other[Symbol.asyncDispose]();
    const texts = await logs.texts({ task: run.slice(0, -2) });
    expect(texts.length).toBe(600);
    for (const rank of [0, 1, 2]) {
      const own = texts.filter((text) => text.startsWith(`${rank}:`));
      expect(own).toEqual(textsOf(numbered(run, 1, 200, rank)));
    }
  });
});

describe("a database fault", () => {
  test("before the commit leaves the batch unacknowledged, and a retry stores it", async () => {
    const run = `${newExperiment()}.1#1`;
    nextInsert = "before_commit";
    expect(await logs.write(numbered(run, 1, 3))).toEqual({ kind: "unavailable" });
    expect(await logs.texts({ task: run.slice(0, -2) })).toEqual([]);
    await logs.written(numbered(run, 1, 3));
    expect((await logs.texts({ task: run.slice(0, -2) })).length).toBe(3);
  });

  test("between the commit and the answer is harmless: a retry of the batch changes nothing", async () => {
    const run = `${newExperiment()}.1#1`;
    nextInsert = "after_commit";
    expect(await logs.write(numbered(run, 1, 3))).toEqual({ kind: "unavailable" });
    await logs.written(numbered(run, 1, 3));
    expect((await logs.texts({ task: run.slice(0, -2) })).length).toBe(3);
  });
});

describe("a follower", () => {
  test("misses no line of writers that began together and committed one after the other", async () => {
    const run = `${newExperiment()}.1#1`;
    const trial = run.slice(0, -2);
    const slow = new pg.Client({ connectionString: databaseUrl() });
    await slow.connect();
    await slow.query("begin");
    await slow.query("select pg_advisory_xact_lock(hashtext('logs'), hashtext('lines'))");
    await slow.query(
      `insert into logs.lines (experiment, trial, run, node_rank, sequence, at_ms, source, continued, line, level, received_ms)
       values ($1, $2, 1, 0, 1, 0, 1, false, 'first', 0, 0)`,
      [trial.split(".")[0], trial],
    );
    const second = logs.written([line(run, 2, "second")]);
    await vi.waitFor(
      async () => {
        const waiting = await logs.stage.sql(
          "select from pg_locks where locktype = 'advisory' and not granted",
        );
        expect(waiting.length).toBe(1);
      },
      { timeout: 90_000 },
    );
    expect(await logs.texts({ task: trial })).toEqual([]);
    await slow.query("commit");
    await slow.end();
    await second;
    expect(await logs.texts({ task: trial })).toEqual(["first", "second"]);
  });

  test("that continues from its last line during concurrent writes gets every line once", async () => {
    const experiment = newExperiment();
    const other = await logs.replica();
    const writers = [1, 2, 3, 4].map(async (trial) => {
      for (let from = 1; from < 200; from += 20) {
        await logs.written(numbered(`${experiment}.${trial}#1`, from, from + 19, trial));
      }
    });
    const seen: string[] = [];
    let after = "";
    let over = false;
    const writing = Promise.all(writers).then(() => {
      over = true;
    });
    for (;;) {
      const last = over;
      const page = await logs.page({ task: experiment, after, limit: 7 });
      seen.push(...page.lines.map(({ line: stored }) => stored?.text ?? ""));
      after = page.lines.at(-1)?.cursor ?? after;
      if (last && page.lines.length === 0) break;
    }
    await writing;
    await other[Symbol.asyncDispose]();
    for (const trial of [1, 2, 3, 4]) {
      const own = seen.filter((text) => text.startsWith(`${trial}:`));
      expect(own).toEqual(textsOf(numbered("1.1#1", 1, 200, trial)));
    }
  });

  test("is notified of a stored batch once, by its last new line", async () => {
    const run = `${newExperiment()}.7#1`;
    const heard: { readonly subject: string; readonly texts: readonly string[] }[] = [];
    const bus = logs.stage.hub.connect("gateway");
    const pages = codecOf<Plain<LinePage>>(LinePageSchema);
    await using _tail = await bus.tailLive("ty.log.>", ({ subject, body }) => {
      const { lines } = pages.decode(new TextDecoder().decode(body));
      heard.push({ subject, texts: lines.map(({ line: stored }) => stored?.text ?? "") });
    });
    const large = Array.from({ length: 30 }, (_, n) => line(run, n, "x".repeat(20_000)));
    await logs.written(large);
    await logs.written(large);
    await logs.written([...large.slice(0, 3), line(run, 100, "the last")]);
    await vi.waitFor(() => expect(heard.at(-1)?.texts).toEqual(["the last"]), { timeout: 90_000 });
    expect(heard.map(({ texts }) => texts)).toEqual([["x".repeat(20_000)], ["the last"]]);
    expect(heard[0]?.subject).toBe(`ty.log.${run.slice(0, -2).replace(".", "%2E")}`);
    await bus[Symbol.asyncDispose]();
  });
});

describe("a query", () => {
  test("of an experiment returns the lines of all its trials, of a trial only the trial's lines", async () => {
    const experiment = newExperiment();
    await logs.written([line(`${experiment}.1#1`, 1, "a"), line(`${experiment}.2#1`, 1, "b")]);
    await logs.written([line(`${experiment}.1#2`, 1, "c"), line(`${experiment}0.1#1`, 1, "d")]);
    expect(await logs.texts({ task: experiment })).toEqual(["a", "b", "c"]);
    expect(await logs.texts({ task: `${experiment}.1` })).toEqual(["a", "c"]);
    expect(await logs.texts({ task: `${experiment}.9` })).toEqual([]);
  });

  test("returns every line once, page by page", async () => {
    const run = `${newExperiment()}.1#1`;
    const lines = numbered(run, 1, 25);
    await logs.written(lines);
    const texts: string[] = [];
    let after = "";
    for (let more = true; more; ) {
      const page = await logs.page({ task: run.slice(0, -2), after, limit: 10 });
      texts.push(...page.lines.map(({ line: stored }) => stored?.text ?? ""));
      after = page.lines.at(-1)?.cursor ?? after;
      more = page.more;
    }
    expect(texts).toEqual(textsOf(lines));
  });

  test("ends a page at its limit of bytes, also below its limit of lines", async () => {
    const run = `${newExperiment()}.1#1`;
    // Each of these characters takes six bytes in JSON, so the last two pages contain fewer lines than the database
    // returned.
    const lines = Array.from({ length: 12 }, (_, n) => line(run, n, "\u001b".repeat(30_000)));
    // A message of the bus has room for five of them.
    for (let from = 0; from < lines.length; from += 4)
      await logs.written(lines.slice(from, from + 4));
    const sizes: number[] = [];
    let after = "";
    for (let more = true; more; ) {
      const page = await logs.page({ task: run.slice(0, -2), after });
      sizes.push(page.lines.length);
      after = page.lines.at(-1)?.cursor ?? "";
      more = page.more;
    }
    expect(sizes).toEqual([3, 3, 3, 3]);
    const tail = await logs.page({ task: run.slice(0, -2), tail: 10 });
    expect(tail.lines.map(({ line: stored }) => stored?.sequence)).toEqual([9, 10, 11]);
  });

  test("for the last lines returns them in order, with a cursor to continue from", async () => {
    const run = `${newExperiment()}.1#1`;
    const trial = run.slice(0, -2);
    await logs.written(numbered(run, 1, 30));
    const tail = await logs.page({ task: trial, tail: 3, after: "1" });
    expect(tail.more).toBe(false);
    expect(tail.lines.map(({ line: stored }) => stored?.sequence)).toEqual([28, 29, 30]);
    await logs.written(numbered(run, 31, 31));
    expect(await logs.texts({ task: trial, after: tail.lines.at(-1)?.cursor ?? "" })).toEqual([
      "0:31",
    ]);
  });

  test("filters by run, node, source and text, also for the last lines", async () => {
    const experiment = newExperiment();
    const task = `${experiment}.1`;
    await logs.written([
      line(`${task}#1`, 1, "loss 1"),
      line(`${task}#1`, 2, "error: 100% lost", { source: LogSource.STDERR }),
      line(`${task}#1`, 1, "loss 2", { nodeRank: 1 }),
      line(`${task}#2`, 1, "loss 3\0"),
    ]);
    expect(await logs.texts({ task, run: 2 })).toEqual(["loss 3\0"]);
    expect(await logs.texts({ task, nodeRank: 0 })).toEqual([
      "loss 1",
      "error: 100% lost",
      "loss 3\0",
    ]);
    expect(await logs.texts({ task, source: LogSource.STDERR })).toEqual(["error: 100% lost"]);
    expect(await logs.texts({ task: experiment, contains: "loss" })).toHaveLength(3);
    expect(await logs.texts({ task, contains: "%" })).toEqual(["error: 100% lost"]);
    expect(await logs.texts({ task, contains: "3\0" })).toEqual(["loss 3\0"]);
    expect(await logs.texts({ task, contains: "loss", tail: 1, run: 1 })).toEqual(["loss 2"]);
  });

  test("with an invalid task, cursor or text is refused with a reason", async () => {
    const refusals = await Promise.all([
      logs.refusal({ task: "x" }),
      logs.refusal({ task: "12.3#1" }),
      logs.refusal({ task: "12", after: "one" }),
      logs.refusal({ task: "12", contains: "x".repeat(1_001) }),
    ]);
    expect(refusals.map(({ rejected }) => rejected)).toEqual(refusals.map(() => "invalid_request"));
  });
});

test("a batch with an invalid line is refused as a whole, with the line's path", async () => {
  const experiment = newExperiment();
  const good = line(`${experiment}.1#1`, 1, "x");
  const answer = await logs.write([good, { ...good, sequence: 2, allocation: "nobody" }]);
  expect(answer).toMatchObject({
    kind: "rejected",
    rejection: { rejected: "invalid_request", problems: [{ path: "lines[1].allocation" }] },
  });
  expect(await logs.texts({ task: experiment })).toEqual([]);
});

const databaseUrl = (): string => logs.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";

/**
 * The replica's connection pool. Its next insert can be made to fail, before it reaches the database or after its
 * commit.
 */
function breakablePool(): pg.Pool {
  const opened = new pg.Pool({ connectionString: databaseUrl(), max: 4 });
  const query = opened.query.bind(opened) as (...given: unknown[]) => Promise<unknown>;
  opened.query = (async (...given: unknown[]) => {
    const fails = JSON.stringify(given[0]).includes("insert into logs.lines")
      ? nextInsert
      : "never";
    if (fails === "never") return query(...given);
    nextInsert = "never";
    if (fails === "after_commit") await query(...given);
    throw new Error("the connection broke");
  }) as typeof opened.query;
  return opened;
}
