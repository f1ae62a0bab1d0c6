import type { EventData } from "@trainyard/contracts";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { createPostgresLog } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger, type ListeningService } from "@trainyard/runtime";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Retention } from "./shell/retention.ts";
import { report, systemReport, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;
const stack = new AsyncDisposableStack();
let pool: pg.Pool;
let experiments = 5_000;
/** The service's clock is this far ahead of the system clock. */
let aheadMs = 0;
const dayMs = 24 * 60 * 60 * 1_000;

beforeAll(async () => {
  metrics = stack.use(await TestMetrics.start());
  service = await metrics.replica();
  const connectionString = metrics.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
  pool = stack.adopt(new pg.Pool({ connectionString, max: 2 }), (opened) => opened.end());
});

beforeEach(() => {
  aheadMs = 0;
});

afterAll(() => stack.disposeAsync());

type Policy = {
  readonly metric_retention_days?: number;
  readonly group_retention_days?: Record<string, number>;
};

/** Creates an experiment with this policy. Returns its first trial, which has run once. */
async function newTrial(policy: Policy = {}): Promise<string> {
  experiments += 1;
  const data: EventData<"ExperimentCreated"> = {
    config: { retention_policy: { ...policy } },
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
  await metrics.stage.tell(`experiment-${experiments}`, { type: "ExperimentCreated", data });
  await metrics.request(`${experiments}.1`, 1);
  return `${experiments}.1`;
}

const ends = (trial: string) =>
  metrics.stage.tell(`experiment-${trial.split(".")[0]}`, {
    type: "ExperimentEnded",
    data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
  });

/** Why deletions are held; null if they are not. */
let held: string | null = null;
const hold = { reason: async () => held };

async function sweep(retentionDays = -1): Promise<void> {
  const connectionString = metrics.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
  await using log = createPostgresLog({ connectionString });
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const logger = createLogger("metrics", "silent");
  const retention = new Retention({ log, pool, clock, logger, retentionDays, hold });
  await retention.sweep(new AbortController().signal);
}

const reportsOf = (n: number) => [
  report(n, "training", n),
  report(n + 1, "validation", n),
  report(n + 2, "my group", n, { note: "x" }),
  systemReport(n + 3, n, 50),
];
const send = (trial: string, reports: readonly unknown[]) =>
  metrics.send(service, `${trial}#1`, { reports });
/** The groups that are left: first of points, then of system samples. */
const left = async (trial: string) => [
  ...(await metrics.page({ trial })).points.map(({ group }) => group),
  ...(await metrics.systemPage(trial)).points.map(({ group }) => group),
];
const everything = ["training", "validation", "my group", "cpu"];

test("points and samples are removed by group, as many days after the experiment's end as its configuration says", async () => {
  const trial = await newTrial({
    metric_retention_days: 30,
    group_retention_days: { validation: -1, cpu: 7 },
  });
  // One batch is stored in a block, one in a tail.
  await send(trial, reportsOf(1));
  await metrics.compact();
  await send(trial, [report(9, "training", 9)]);
  aheadMs = 400 * dayMs;
  await sweep();
  expect(new Set(await left(trial))).toEqual(new Set(everything));
  await ends(trial);
  aheadMs = 8 * dayMs;
  await sweep();
  expect(new Set(await left(trial))).toEqual(new Set(everything.slice(0, 3)));
  aheadMs = 31 * dayMs;
  await sweep();
  expect(await left(trial)).toEqual(["validation"]);
  const names = "select distinct group_name from metrics.names where trial = $1";
  expect(await metrics.stage.sql(names, [trial])).toEqual([{ group_name: "validation" }]);
  expect(await metrics.stage.sql("select from metrics.columns where name = 'note'")).toEqual([]);
  // The totals of system samples are kept, and so are the keys.
  expect((await metrics.profile(trial)).totals).toHaveLength(1);
  expect(await send(trial, reportsOf(1))).toMatchObject({ status: 200, body: { accepted: 4 } });
  expect(await left(trial)).toEqual(["validation"]);
});

test("the cluster's retention days are the default, and an experiment that fails to be removed does not block others", async () => {
  const [silent, forever, bad] = [
    await newTrial(),
    await newTrial({ metric_retention_days: -1 }),
    await newTrial(),
  ];
  for (const trial of [silent, forever, bad]) {
    await send(trial, reportsOf(1));
    await ends(trial);
  }
  aheadMs = 100 * dayMs;
  await sweep();
  expect(await left(silent)).toHaveLength(4);
  await metrics.stage.sql(
    `create function metrics.refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`,
  );
  for (const table of ["tails", "blocks"]) {
    await metrics.stage.sql(
      `create trigger refuse before delete on metrics.${table}
       for each row when (old.trial = '${bad}') execute function metrics.refuse()`,
    );
  }
  try {
    await sweep(90);
    expect([await left(silent), await left(forever), await left(bad)]).toEqual([
      [],
      everything,
      everything,
    ]);
  } finally {
    await metrics.stage.sql("drop function metrics.refuse() cascade");
  }
  await sweep(90);
  expect(await left(bad)).toEqual([]);
});

test("a trial of an experiment whose id has the same prefix keeps its points", async () => {
  const trial = await newTrial({ metric_retention_days: 0 });
  const [experiment = ""] = trial.split(".");
  const alike = `${experiment}1.1`;
  await metrics.request(alike, 1);
  for (const one of [trial, alike]) await send(one, reportsOf(1));
  await ends(trial);
  aheadMs = dayMs;
  await sweep();
  expect(await left(trial)).toEqual([]);
  expect(await left(alike)).toHaveLength(4);
});

test("points are kept while a deletion may be undone, and while a continued experiment runs", async () => {
  const [deleted, continued] = [
    await newTrial({ metric_retention_days: 0 }),
    await newTrial({ metric_retention_days: 0 }),
  ];
  for (const trial of [deleted, continued]) {
    await send(trial, reportsOf(1));
    await ends(trial);
  }
  const streamOf = (trial: string) => `experiment-${trial.split(".")[0]}`;
  const grace = { graceEndMs: 1, reason: "" };
  await metrics.stage.tell(streamOf(deleted), { type: "ExperimentDeletionRequested", data: grace });
  const again = { continuation: 1, request: "" };
  await metrics.stage.tell(streamOf(continued), { type: "ExperimentContinued", data: again });
  aheadMs = dayMs;
  await sweep();
  expect([await left(deleted), await left(continued)]).toEqual([everything, everything]);
  await metrics.stage.tell(streamOf(deleted), { type: "ExperimentDeletionUndone", data: {} });
  await ends(continued);
  await sweep();
  expect([await left(deleted), await left(continued)]).toEqual([[], []]);
});

test("the metrics of a continued trial are in the list of names after retention has removed earlier ones", async () => {
  const trial = await newTrial({ metric_retention_days: 0 });
  await send(trial, [report(1, "training", 1)]);
  await ends(trial);
  aheadMs = dayMs;
  await sweep();
  const names = "select from metrics.names where trial = $1";
  expect(await metrics.stage.sql(names, [trial])).toEqual([]);
  await metrics.stage.tell(`experiment-${trial.split(".")[0]}`, {
    type: "ExperimentContinued",
    data: { continuation: 1, request: "" },
  });
  await metrics.request(trial, 2);
  expect(
    await metrics.send(service, `${trial}#2`, { reports: [report(1, "training", 1)] }),
  ).toMatchObject({ status: 200 });
  expect(await metrics.stage.sql(names, [trial])).toHaveLength(1);
});

test("nothing is removed while deletions are held", async () => {
  const trial = await newTrial({ metric_retention_days: 1 });
  await send(trial, reportsOf(1));
  await ends(trial);
  aheadMs = 2 * dayMs;
  held = "the log went back";
  await sweep();
  expect(new Set(await left(trial))).toEqual(new Set(everything));
  held = null;
  await sweep();
  expect(await left(trial)).toEqual([]);
});

test("a sweep looks only at experiments that are due", async () => {
  const trial = await newTrial({ metric_retention_days: 1 });
  const [experiment = ""] = trial.split(".");
  await send(trial, reportsOf(1));
  await ends(trial);
  const text = "select due_ms as ms, ended_ms as ended from metrics.lives where id = $1";
  type Due = { readonly ms: number | null; readonly ended: number };
  const due = async () => (await metrics.stage.sql<Due>(text, [experiment]))[0];
  await sweep();
  const first = await due();
  expect(first?.ms).toBe((first?.ended ?? 0) + dayMs);
  aheadMs = 20 * dayMs;
  await sweep();
  expect(await left(trial)).toEqual([]);
  expect((await due())?.ms).toBe(Infinity);
  const again = { continuation: 1, request: "" };
  await metrics.stage.tell(`experiment-${experiment}`, {
    type: "ExperimentContinued",
    data: again,
  });
  await ends(trial);
  aheadMs = 0;
  await sweep();
  expect((await due())?.ms).toBeLessThan(Infinity);
});
