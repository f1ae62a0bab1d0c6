import type { AnyEvent, EventData } from "@trainyard/contracts";
import { ExperimentOutcome, TaskOutcome } from "@trainyard/contracts/events";
import { createPostgresLog, type EventLog } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { logsLimits } from "./limits.ts";
import { logLives } from "./shell/lives.ts";
import { RetentionTable } from "./shell/retention-table.ts";
import { Retention, type RetentionSettings } from "./shell/retention.ts";
import { line } from "./testing/lines.ts";
import { TestLogs } from "./testing/test-logs.ts";

let logs: TestLogs;
const stack = new AsyncDisposableStack();
let pool: pg.Pool;
let experiments = 5_000;
/** The service's clock is this far ahead of the system clock. */
let aheadMs = 0;
const dayMs = 24 * 60 * 60 * 1_000;

beforeAll(async () => {
  logs = stack.use(await TestLogs.start());
  await logs.replica();
  const url = logs.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
  pool = stack.adopt(new pg.Pool({ connectionString: url, max: 2 }), (opened) => opened.end());
});

beforeEach(() => {
  aheadMs = 0;
});

afterAll(() => stack.disposeAsync());

async function newExperiment(days?: number): Promise<string> {
  experiments += 1;
  const data: EventData<"ExperimentCreated"> = {
    config: days === undefined ? {} : { retention_policy: { log_retention_days: days } },
    configSourceDigest: "",
    contextDigest: "",
    contextBytes: 0,
    submissionDigest: "",
    tokenId: "",
    seed: 7,
    name: "",
    description: "",
    labels: [],
    owner: "",
    workspace: "",
    project: "",
  };
  await logs.stage.tell(`experiment-${experiments}`, { type: "ExperimentCreated", data });
  return String(experiments);
}

/** Why deletions are held; null if they are not. */
let held: string | null = null;
afterEach(() => {
  held = null;
});

const ends = (experiment: string) =>
  logs.stage.tell(`experiment-${experiment}`, {
    type: "ExperimentEnded",
    data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
  });

async function sweep(settings: Partial<RetentionSettings> = {}): Promise<void> {
  const url = logs.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
  await using log = createPostgresLog({ connectionString: url });
  const retention = new Retention({
    lives: logLives(pool, log),
    kept: new RetentionTable(pool),
    clock: { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs },
    logger: createLogger("logs", "silent"),
    settings: { retentionDays: -1, retentionBytes: null, ...settings },
    hold: { reason: async () => held },
  });
  await retention.sweep(new AbortController().signal);
}

const write = (experiment: string, count: number, text = "x") =>
  logs.written(
    Array.from({ length: count }, (_, n) => line(`${experiment}.1#1`, n, `${text}${n}`)),
  );
const countOf = async (experiment: string) => (await logs.texts({ task: experiment })).length;

const tells = (experiment: string, type: "Requested" | "Undone" | "gone") => {
  const stream = `experiment-${experiment}`;
  if (type === "gone") return logs.stage.tell(stream, { type: "ExperimentDeleted", data: {} });
  if (type === "Undone") {
    return logs.stage.tell(stream, { type: "ExperimentDeletionUndone", data: {} });
  }
  const data = { graceEndMs: 1, reason: "" };
  return logs.stage.tell(stream, { type: "ExperimentDeletionRequested", data });
};

describe("lines of an experiment that is deleted", () => {
  test("are kept during the grace, even beyond the retention days and bytes", async () => {
    const experiment = await newExperiment(0);
    await write(experiment, 3);
    await ends(experiment);
    await tells(experiment, "Requested");
    await sweep({ retentionBytes: 0 });
    expect(await countOf(experiment)).toBe(3);
    await tells(experiment, "Undone");
    await sweep();
    expect(await countOf(experiment)).toBe(0);
  });

  test("are removed after the grace, as are lines that arrive later", async () => {
    const experiment = await newExperiment(-1);
    await write(experiment, 3);
    await ends(experiment);
    await tells(experiment, "Requested");
    await tells(experiment, "gone");
    await sweep();
    expect(await countOf(experiment)).toBe(0);
    await logs.written([line(`${experiment}.1#1`, 7, "late")]);
    await sweep();
    expect(await countOf(experiment)).toBe(0);
  });
});

describe("lines of a task", () => {
  const tellTask = (task: string, ...types: readonly ("ended" | "resumed" | "deleted")[]) => {
    const ended = { outcome: TaskOutcome.COMPLETED, reason: "", restarts: 0 };
    const events = types.map((type): AnyEvent => {
      if (type === "ended") return { type: "TaskEnded", data: ended };
      return { type: type === "resumed" ? "TaskResumed" : "TaskDeleted", data: {} };
    });
    return logs.stage.tell(`task-${task}`, ...events);
  };
  const writeTask = (task: string) =>
    logs.written([1, 2, 3].map((n) => line(`${task}#1`, n, `x${n}`)));

  test("are removed once the task is deleted, as are lines that arrive later, but not while deletions are held", async () => {
    await writeTask("t701");
    await writeTask("t7010");
    await tellTask("t701", "ended");
    await sweep();
    expect(await countOf("t701")).toBe(3);
    await tellTask("t701", "deleted");
    held = "the log went back";
    await sweep();
    expect(await countOf("t701")).toBe(3);
    held = null;
    await sweep();
    expect([await countOf("t701"), await countOf("t7010")]).toEqual([0, 3]);
    await logs.written([line("t701#1", 7, "late")]);
    await sweep();
    expect(await countOf("t701")).toBe(0);
  });

  test("are removed as many days after its end as the cluster keeps lines, and not before its end", async () => {
    await writeTask("t702");
    await writeTask("t703");
    await writeTask("t704");
    await tellTask("t702", "ended");
    await tellTask("t704", "ended", "resumed");
    aheadMs = 31 * dayMs;
    await sweep();
    expect(await countOf("t702")).toBe(3);
    await sweep({ retentionDays: 30 });
    expect([await countOf("t702"), await countOf("t703")]).toEqual([0, 3]);
    expect(await countOf("t704")).toBe(3);
  });
});

test("while deletions are held, no lines are removed for a deletion or an age, but those beyond the bytes are", async () => {
  const [deleted, old, large] = [
    await newExperiment(),
    await newExperiment(1),
    await newExperiment(),
  ];
  for (const experiment of [deleted, old, large]) await write(experiment, 3);
  for (const experiment of [deleted, old]) await ends(experiment);
  await tells(deleted, "Requested");
  await tells(deleted, "gone");
  aheadMs = 2 * dayMs;
  held = "the log went back";
  await sweep();
  expect([await countOf(deleted), await countOf(old), await countOf(large)]).toEqual([3, 3, 3]);
  await sweep({ retentionBytes: 4 });
  expect(await countOf(large)).toBe(2);
  held = null;
  await sweep();
  expect([await countOf(deleted), await countOf(old), await countOf(large)]).toEqual([0, 0, 2]);
});

describe("lines of an experiment are removed", () => {
  test("as many days after its end as its configuration says, and answers count them", async () => {
    const [brief, other] = [await newExperiment(3), await newExperiment()];
    for (const experiment of [brief, other]) {
      await write(experiment, 5);
      await ends(experiment);
      await logs.stage.tell(`experiment-${experiment}`, {
        type: "ExperimentArchived",
        data: { reason: "" },
      });
    }
    aheadMs = 2.9 * dayMs;
    await sweep();
    expect([await countOf(brief), await countOf(other)]).toEqual([5, 5]);
    expect((await logs.page({ task: brief })).removed).toBeUndefined();
    aheadMs = 3.1 * dayMs;
    await sweep();
    expect([await countOf(brief), await countOf(other)]).toEqual([0, 5]);
    const { removed } = await logs.page({ task: `${brief}.1` });
    expect(removed?.lines).toBe(5);
    expect(Math.abs((removed?.untilMs ?? 0) - Date.now())).toBeLessThan(dayMs);
  });

  test("after the cluster's days without a configured number, and never with -1", async () => {
    const [silent, forever] = [await newExperiment(), await newExperiment(-1)];
    for (const experiment of [silent, forever]) {
      await write(experiment, 2);
      await ends(experiment);
    }
    aheadMs = 400 * dayMs;
    await sweep({ retentionDays: 30 });
    expect([await countOf(silent), await countOf(forever)]).toEqual([0, 2]);
  });

  test("only after its end, however old they are", async () => {
    const running = await newExperiment(0);
    await write(running, 2);
    aheadMs = 400 * dayMs;
    await sweep();
    expect(await countOf(running)).toBe(2);
  });

  test("in bounded statements until none is left, and so are lines that arrive later", async () => {
    const experiment = await newExperiment(0);
    for (let from = 0; from < 2; from += 1) {
      const size = logsLimits.linesPerRemovalMax / 2 + 100;
      const lines = Array.from({ length: size }, (_, n) =>
        line(`${experiment}.1#${from + 1}`, n, "x"),
      );
      await logs.written(lines);
    }
    await ends(experiment);
    aheadMs = dayMs;
    await sweep();
    expect(await countOf(experiment)).toBe(0);
    await logs.written([line(`${experiment}.1#3`, 1, "late")]);
    await sweep();
    expect(await countOf(experiment)).toBe(0);
    expect((await logs.page({ task: experiment })).removed?.lines).toBe(
      logsLimits.linesPerRemovalMax + 201,
    );
  });
});

test("the oldest lines of a running experiment are removed beyond the cluster's limit of bytes", async () => {
  const [large, small] = [await newExperiment(), await newExperiment()];
  await write(large, 20, "y".repeat(99));
  await write(small, 5);
  await sweep({ retentionBytes: 1_050 });
  const { lines, removed } = await logs.page({ task: large });
  // Ten lines of 101 bytes remain of 2,010 bytes.
  const left = Array.from({ length: 10 }, (_, n) => 10 + n);
  expect(lines.map(({ line: stored }) => stored?.sequence)).toEqual(left);
  expect(removed?.lines).toBe(10);
  expect(await countOf(small)).toBe(5);
  await sweep({ retentionBytes: 1_050 });
  expect(await countOf(large)).toBe(10);
});

test("one sweep removes all lines beyond the cluster's limit of bytes, in several statements", async () => {
  const experiment = await newExperiment();
  const size = logsLimits.linesPerRemovalMax / 2 + 100;
  for (let run = 1; run <= 2; run += 1) {
    const lines = Array.from({ length: size }, (_, n) => line(`${experiment}.1#${run}`, n, "x"));
    await logs.written(lines);
  }
  await sweep({ retentionBytes: 50 });
  expect(await countOf(experiment)).toBe(50);
});

test("an experiment whose lines cannot be removed does not block the removal of others", async () => {
  const [bad, good] = [await newExperiment(0), await newExperiment(0)];
  for (const experiment of [bad, good]) {
    await write(experiment, 2);
    await ends(experiment);
  }
  await logs.stage.sql(
    `create function logs.refuse() returns trigger language plpgsql as
     $$ begin raise 'canceling statement due to statement timeout' using errcode = '57014'; end $$`,
  );
  await logs.stage.sql(
    `create trigger refuse before delete on logs.lines
     for each row when (old.experiment = '${bad}') execute function logs.refuse()`,
  );
  aheadMs = dayMs;
  try {
    await sweep();
  } finally {
    await logs.stage.sql("drop function logs.refuse() cascade");
  }
  expect([await countOf(bad), await countOf(good)]).toEqual([2, 0]);
  await sweep();
  expect(await countOf(bad)).toBe(0);
});

test("a line that is stored during a sweep is removed by this sweep or the next", async () => {
  const experiment = await newExperiment(0);
  await logs.stage.sql("insert into logs.experiments (experiment) values ($1)", [experiment]);
  await ends(experiment);
  aheadMs = dayMs;
  const writer = await pool.connect();
  let sweeping: Promise<void>;
  try {
    await writer.query("begin");
    await writer.query("update logs.experiments set gone = false where experiment = $1", [
      experiment,
    ]);
    sweeping = sweep();
    await vi.waitFor(async () => {
      const waiting = await logs.stage.sql("select from pg_locks where not granted");
      expect(waiting).not.toEqual([]);
    });
    await writer.query(
      `insert into logs.lines (experiment, trial, run, node_rank, sequence, at_ms, source, continued, line, level, received_ms)
       values ($1, $2, 1, 0, 1, 0, 1, false, 'late', 0, 0)`,
      [experiment, `${experiment}.1`],
    );
    await writer.query("commit");
  } finally {
    writer.release();
  }
  await sweeping;
  await sweep();
  expect(await countOf(experiment)).toBe(0);
});

test("a sweep reads no stream of experiments that are kept, however many there are", async () => {
  const ended = await newExperiment();
  await write(ended, 2);
  await ends(ended);
  await logs.stage.sql(
    `insert into logs.experiments (experiment) select 'e' || n from generate_series(1, 100000) as n`,
  );
  await sweep();
  const url = logs.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
  await using log = createPostgresLog({ connectionString: url });
  const reads: string[] = [];
  const counted = new Proxy<EventLog>(log, {
    get: (target, name: keyof EventLog) => {
      if (name === "read" || name === "readSome") reads.push(name);
      const member = target[name];
      return typeof member === "function" ? (member as () => unknown).bind(target) : member;
    },
  });
  const before = performance.now();
  const retention = new Retention({
    lives: logLives(pool, counted),
    kept: new RetentionTable(pool),
    clock: systemClock,
    logger: createLogger("logs", "silent"),
    settings: { retentionDays: -1, retentionBytes: 1_000_000 },
    hold: { reason: async () => null },
  });
  await retention.sweep(new AbortController().signal);
  expect(reads).toEqual([]);
  expect(performance.now() - before).toBeLessThan(3_000);
  await logs.stage.sql("delete from logs.experiments where experiment like 'e%'");
});

test("an end is found behind more events than a page of the log has", async () => {
  const experiment = await newExperiment(0);
  await write(experiment, 2);
  const paused: AnyEvent = { type: "ExperimentPaused", data: {} };
  for (let part = 0; part < 12; part += 1) {
    await logs.stage.tell(`experiment-${experiment}`, ...Array.from({ length: 100 }, () => paused));
  }
  await ends(experiment);
  await sweep();
  expect(await countOf(experiment)).toBe(0);
});

test("ends and deletions are read again from a log that went back", async () => {
  const experiment = await newExperiment();
  await write(experiment, 2);
  await sweep();
  await logs.stage.sql("update logs.lives_cursor set event = 'of a lost history'");
  await logs.stage.sql("update logs.lives set ended_ms = 1 where id = $1", [experiment]);
  await sweep({ retentionDays: 0 });
  expect(await countOf(experiment)).toBe(2);
  await ends(experiment);
  await sweep({ retentionDays: 0 });
  expect(await countOf(experiment)).toBe(0);
});
