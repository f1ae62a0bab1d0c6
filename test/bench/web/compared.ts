/**
 * Everything that answers a comparison of many trials: the metrics service as a separate process over their points, and
 * a gateway in this process whose log has the trials, over NATS between them.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { startNats } from "@trainyard/bus/testing";
import type { AnyEvent } from "@trainyard/contracts";
import { ExperimentOutcome, TrialOutcome } from "@trainyard/contracts/events";
import { createPostgresLog } from "@trainyard/event-log";
import { checkout } from "@trainyard/local-cluster";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { appendNew, validation } from "../gateway/experiments.ts";
import { type ManyTrials, manyTrials } from "../metrics/charts.ts";
import type { BenchContext } from "../support/bench.ts";
import { createGatewayDatabase, openGateway, untilFolded } from "../support/gateway.ts";

const database = "compared";

export type Compared = {
  readonly address: string;
  readonly token: string;
  readonly trials: readonly string[];
  /** The points of the metric that all trials have reported. */
  readonly points: number;
};

export async function openCompared(
  stack: AsyncDisposableStack,
  context: BenchContext,
  webDir: string,
): Promise<Compared> {
  const many = await manyTrials(context);
  const settings = { max_wal_size: "8GB", shared_buffers: "512MB" };
  const options = { fsync: true, settings, copyOf: many.data };
  const stage = stack.use(await DatabaseStage.start("metrics", options));
  const nats = stack.use(await startNats());
  startMetrics(stack, context, { ...stage.variables, TRAINYARD_NATS_URL: nats.url });
  const url = await createGatewayDatabase(stage.postgres, database);
  await appendTrials(url, many);
  const opened = await openGateway(stack, stage.postgres, database, {
    webDir,
    natsUrl: nats.url,
  });
  const { trials, reports } = many;
  // The first answer also waits until the metrics service serves.
  await untilFolded(async () => {
    const answer = await opened.client.call("compareTrials", { sources: ["3.all"] });
    return answer.trials.length === trials.length && answer.metrics.length > 0;
  });
  return { ...opened, trials, points: trials.length * reports };
}

function startMetrics(
  stack: AsyncDisposableStack,
  context: BenchContext,
  variables: Readonly<Record<string, string>>,
): void {
  const main = join(checkout, "services", "metrics", "src", "main.ts");
  const child = spawn(process.execPath, [main], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      ...variables,
      TRAINYARD_LOG_LEVEL: "error",
      TRAINYARD_RUN_TOKEN_KEY: "07".repeat(32),
    },
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const own = context.watch.own(child.pid ?? 0);
  stack.defer(async () => {
    own[Symbol.dispose]();
    child.kill();
    await ended;
  });
}

/** Appends an ended experiment and its trials. */
async function appendTrials(url: string, { trials }: ManyTrials): Promise<void> {
  await using log = createPostgresLog({ connectionString: url });
  const [own = [], ...others] = trials.map((trial, at) => [
    { stream: `trial-${trial}`, events: trialEvents(at + 1) },
    { stream: `measurement-${trial}`, events: [validation(trial, 1, 1 / (at + 1))] },
  ]);
  await appendNew(log, [
    { stream: "experiment-3", events: experimentEvents },
    { stream: "search-3", events: [searchStarted(trials.length)] },
    ...own,
  ]);
  for (const writes of others) await appendNew(log, writes);
}

const experimentEvents: readonly AnyEvent[] = [
  {
    type: "ExperimentCreated",
    data: {
      config: { searcher: { name: "random", metric: "loss" }, hyperparameters: { lr: 0.1 } },
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      seed: 1,
      name: "compared",
      description: "",
      labels: [],
      owner: "admin",
      workspace: "",
      project: "",
    },
  },
  { type: "ExperimentActivated", data: {} },
  { type: "ExperimentEnded", data: { outcome: ExperimentOutcome.COMPLETED, reason: "" } },
];

const searchStarted = (trialsMax: number): AnyEvent => ({
  type: "SearchStarted",
  data: {
    algorithm: "random",
    algorithmVersion: 1,
    metric: "loss",
    smallerIsBetter: true,
    timeMetric: "",
    seed: 1,
    trialsMax,
    concurrentTrialsMax: 1,
  },
});

const trialEvents = (number: number): readonly AnyEvent[] => [
  {
    type: "TrialCreated",
    data: {
      experiment: "3",
      number,
      seed: number,
      warmStartCheckpoint: "",
      sourceTrial: "",
      origin: "drawn",
      hyperparameters: { lr: number / 1_000 },
    },
  },
  { type: "TrialEnded", data: { outcome: TrialOutcome.COMPLETED, reason: "", restarts: 0 } },
];
