/**
 * Reads of the gateway: lists of 100,000 experiments, and a single experiment over HTTP, compared with a bare server.
 */
import { ExperimentService } from "@trainyard/contracts/api";
import { createPostgresLog } from "@trainyard/event-log";
import { GrpcClient } from "@trainyard/runtime/grpc";
import pg from "pg";
import type { Bench, BenchContext, BenchResult } from "../support/bench.ts";
import { costResult, rateResult } from "../support/bench.ts";
import { withClient } from "../support/log-server.ts";
import { callsPerSecond, interleave, percentile } from "../support/measure.ts";
import { appendNew, experiment } from "./experiments.ts";
import { database, openFilled, type Stage } from "./filled.ts";
import { dashboardsBar, sharedDashboards } from "./dashboards.ts";
import { grantedBar, grantedLists } from "./granted-list.ts";
import { followersBar, followersBeside } from "./followers.ts";
import { heavyBar, heavyTrials } from "./heavy-trials.ts";
import { queuedBar, queuedRuns } from "./queued-runs.ts";
import { pictureBar, searchPicture } from "./search-picture.ts";
import { signInBar, signIns } from "./sign-ins.ts";
import { watchBar, watchCost } from "./watch-cost.ts";
import { watchGrantsBar, watchWithGrants } from "./watch-grants.ts";
import { startPlainGrpcServer, startPlainServer } from "./plain-server.ts";

const pageSize = 50;
const arrivingPerSecond = 50;
const aimMs = 100;

/** Queries in each order that a page offers first, with up to three conditions. */
const questions = [
  {},
  { orderBy: "name" },
  { orderBy: "state desc" },
  { orderBy: "created_at" },
  { orderBy: "best_value" },
  { orderBy: "best_value desc" },
  { orderBy: "owner" },
  { orderBy: "progress desc" },
  { orderBy: "hparams.h4" },
  { orderBy: "hparams.model desc" },
  { orderBy: "metrics.loss" },
  { filter: "state = ERROR" },
  { filter: "label = rare" },
  { filter: "resnet 42" },
  { filter: "hparams.h4 < 1e-3", orderBy: "best_value" },
  { filter: "owner = user7 and state = COMPLETED and hparams.h3 < 0.1" },
  { filter: "label = l3 and best_value < 0.01 and hparams.model = vit", orderBy: "hparams.h2" },
] as const;

const bars = {
  list: { id: "api_list_100k_ms", unit: "ms", floor: null, goal: 1 },
  scans: { id: "list_table_scans", unit: "scans", floor: null, goal: null },
  flatness: { id: "list_flatness_1k_100k", unit: "pages/s", floor: null, goal: 0.5 },
  one: { id: "rest_vs_fastify", unit: "calls/s", floor: null, goal: 0.5 },
  grpc: { id: "grpc_vs_echo", unit: "calls/s", floor: null, goal: 0.5 },
};

export const run: Bench = async (context) => [
  ...(await ofFilled(context)),
  ...(context.wants(queuedBar.id) ? [await queuedRuns(context)] : []),
  ...(context.wants(heavyBar.id) ? [await heavyTrials(context)] : []),
  ...(context.wants(signInBar.id) ? [await signIns(context)] : []),
  ...(context.wants(followersBar.id) ? [await followersBeside(context)] : []),
  ...(context.wants(dashboardsBar.id) ? await sharedDashboards(context) : []),
];

/** Measures with experiments 1 to 1,000, and to 100,000. */
async function ofFilled(context: BenchContext): Promise<readonly BenchResult[]> {
  const [fewer, more] = context.size === "tiny" ? [100, 300] : [1_000, 100_000];
  const own = [pictureBar, watchBar, watchGrantsBar, grantedBar];
  const ids = [...Object.values(bars), ...own].map(({ id }) => id);
  if (!context.wants(...ids)) return [];
  await using stack = new AsyncDisposableStack();
  const small = await openFilled(stack, context, fewer);
  return [
    ...(await ofManyExperiments(context, small, more)),
    ...(await ofFewExperiments(context, small)),
  ];
}

async function ofManyExperiments(
  context: BenchContext,
  small: Stage,
  count: number,
): Promise<readonly BenchResult[]> {
  const asked = (...of: readonly { readonly id: string }[]): boolean =>
    context.wants(...of.map(({ id }) => id));
  if (!asked(...Object.values(bars), grantedBar)) return [];
  await using stack = new AsyncDisposableStack();
  const large = await openFilled(stack, context, count);
  return [
    ...(asked(bars.list, bars.scans) ? await listLatencies(context, large) : []),
    ...(asked(bars.flatness) ? [await flatness(context, small, large)] : []),
    ...(asked(bars.one) ? [await oneExperiment(stack, context, large)] : []),
    ...(asked(bars.grpc) ? [await oneOverGrpc(stack, context, large)] : []),
    // Last, since it changes the rows.
    ...(asked(grantedBar) ? [await grantedLists(context, large)] : []),
  ];
}

async function ofFewExperiments(
  context: BenchContext,
  small: Stage,
): Promise<readonly BenchResult[]> {
  const { client, postgres } = small;
  const writer = postgres.url({ database });
  const gateway = postgres.url({ user: "ty_gateway", database });
  return [
    ...(context.wants(pictureBar.id) ? [await searchPicture(context, client, writer)] : []),
    ...(context.wants(watchBar.id) ? [await watchCost(context, small, { writer, gateway })] : []),
    // The cluster has users from here on.
    ...(context.wants(watchGrantsBar.id)
      ? [await watchWithGrants(context, small, { writer, gateway })]
      : []),
  ];
}

/** Reads first pages while experiments arrive, each query often enough for a 95th percentile. */
async function listLatencies(context: BenchContext, stage: Stage): Promise<readonly BenchResult[]> {
  const rounds = { tiny: 1, short: 25, full: 100 }[context.size];
  const before = await scansOf(stage);
  const took = new Map<object, number[]>(questions.map((question) => [question, []]));
  await whileArriving(stage, async () => {
    for (let round = 0; round <= rounds; round += 1) {
      for (const question of questions) {
        const start = performance.now();
        await stage.client.call("listExperiments", { pageSize, archived: true, ...question });
        if (round > 0) took.get(question)?.push(performance.now() - start);
      }
    }
  });
  const p95s = questions.map((question) => ({
    question,
    ms: percentile(took.get(question) ?? [], 0.95),
  }));
  for (const { question, ms } of p95s)
    context.say(`  ${JSON.stringify(question)}: p95 ${ms.toFixed(1)} ms`);
  const slowest = p95s.reduce((worst, one) => (one.ms > worst.ms ? one : worst));
  const note = `slowest p95 of ${questions.length} questions: ${JSON.stringify(slowest.question)}; ${arrivingPerSecond} events/s arrive; baseline is the aim`;
  const scans = (await scansOf(stage)) - before;
  return [
    costResult(bars.list, slowest.ms, aimMs, note),
    {
      ...bars.scans,
      value: scans,
      baseline: null,
      ratio: null,
      note: "sequential scans of the rows of experiments while the questions were asked",
    },
  ];
}

/** Appends experiments at a steady pace while `act` runs. */
async function whileArriving({ postgres, count }: Stage, act: () => Promise<void>): Promise<void> {
  await using log = createPostgresLog({ connectionString: postgres.url({ database }) });
  let over = false;
  const arriving = (async () => {
    for (let id = count + 1; !over; ) {
      const start = performance.now();
      const writes = experiment(id);
      await appendNew(log, writes);
      id += 1;
      const events = writes.reduce((sum, write) => sum + write.events.length, 0);
      const dueMs = (events / arrivingPerSecond) * 1_000 - (performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs)));
    }
  })();
  try {
    await act();
  } finally {
    over = true;
    await arriving;
  }
}

async function scansOf({ postgres }: Stage): Promise<number> {
  return withClient(postgres.url({ database }), async (client) => {
    const { rows } = await client.query<{ scans: string }>(
      `select coalesce(sum(seq_scan), 0) as scans from pg_stat_user_tables
       where schemaname = 'gateway' and relname in ('experiment_rows', 'attributes')`,
    );
    return Number(rows[0]?.scans ?? 0);
  });
}

/** Compares the same queries on few and on many experiments. */
async function flatness(context: BenchContext, small: Stage, large: Stage): Promise<BenchResult> {
  const forMs = { tiny: 50, short: 3_000, full: 10_000 }[context.size];
  const rounds = { tiny: 1, short: 3, full: 9 }[context.size];
  const measure = ({ client }: Stage) => {
    let asked = 0;
    return () =>
      callsPerSecond(1, forMs, async () => {
        const question = questions[asked % questions.length];
        asked += 1;
        await client.call("listExperiments", { pageSize, archived: true, ...question });
      });
  };
  const [few, many] = await interleave(
    [
      { name: `${small.count} experiments`, round: measure(small) },
      { name: `${large.count} experiments`, round: measure(large) },
    ],
    rounds,
    context,
  );
  return rateResult(
    bars.flatness,
    many,
    few,
    `the questions above in turn, one caller, pages of ${pageSize}`,
  );
}

/** Reads an experiment by its number over HTTP, compared with a server that reads and sends the same rows. */
async function oneExperiment(
  stack: AsyncDisposableStack,
  context: BenchContext,
  { client, postgres, count }: Stage,
): Promise<BenchResult> {
  const forMs = { tiny: 50, short: 3_000, full: 10_000 }[context.size];
  const rounds = { tiny: 1, short: 3, full: 9 }[context.size];
  const pool = new pg.Pool({ connectionString: postgres.url({ database }), max: 8 });
  stack.defer(() => pool.end());
  const plain = stack.use(await startPlainServer(pool));
  const experimentOf = (call: number): string => String(((call * 7_919) % count) + 1);
  let calls = 0;
  const [ours, theirs] = await interleave(
    [
      {
        name: "GetExperiment",
        round: () =>
          callsPerSecond(8, forMs, async () => {
            calls += 1;
            await client.call("getExperiment", { experiment: experimentOf(calls) });
          }),
      },
      {
        name: "a bare server",
        round: () =>
          callsPerSecond(8, forMs, async () => {
            calls += 1;
            const answer = await fetch(`${plain.url}/experiments/${experimentOf(calls)}`);
            await answer.json();
          }),
      },
    ],
    rounds,
    context,
  );
  return rateResult(
    bars.one,
    ours,
    theirs,
    "GetExperiment, 8 callers; beside Fastify with the same two reads",
  );
}

async function oneOverGrpc(
  stack: AsyncDisposableStack,
  context: BenchContext,
  { grpcAddress, token, postgres, count }: Stage,
): Promise<BenchResult> {
  const forMs = { tiny: 50, short: 3_000, full: 10_000 }[context.size];
  const rounds = { tiny: 1, short: 3, full: 9 }[context.size];
  const pool = new pg.Pool({ connectionString: postgres.url({ database }), max: 8 });
  stack.defer(() => pool.end());
  const plain = stack.use(await startPlainGrpcServer(pool));
  const client = stack.use(new GrpcClient(grpcAddress, token));
  const { getExperiment } = ExperimentService.method;
  const experimentOf = (call: number): string => String(((call * 7_919) % count) + 1);
  let calls = 0;
  const [ours, theirs] = await interleave(
    [
      {
        name: "GetExperiment over gRPC",
        round: () =>
          callsPerSecond(8, forMs, async () => {
            calls += 1;
            await client.call(getExperiment, { experiment: experimentOf(calls) });
          }),
      },
      {
        name: "a bare gRPC server",
        round: () =>
          callsPerSecond(8, forMs, async () => {
            calls += 1;
            await plain.get(experimentOf(calls));
          }),
      },
    ],
    rounds,
    context,
  );
  const note = "GetExperiment, 8 callers; beside bare grpc-js with the same two reads";
  return rateResult(bars.grpc, ours, theirs, note);
}
