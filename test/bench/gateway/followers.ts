/** The followers of the lines of some trials, beside the list of another caller. */
import { request } from "node:http";
import { type Bus, logSubject } from "@trainyard/bus";
import { createMemoryBus } from "@trainyard/bus/testing";
import { Client } from "@trainyard/client";
import type { AnyEvent } from "@trainyard/contracts";
import { LogLevel, LogSource } from "@trainyard/contracts/commands";
import { createPostgresLog } from "@trainyard/event-log";
import { type CommandTable, commandHandlers, createLogger } from "@trainyard/runtime";
import { startTestPostgres } from "@trainyard/testing";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { createGatewayDatabase, openGateway, untilFolded } from "../support/gateway.ts";
import { percentile } from "../support/measure.ts";
import { appendNew, experiment, trialCreated } from "./experiments.ts";
import { latencies } from "./heavy-trials.ts";
import { tokensOf } from "./watch-cost.ts";

export const followersBar = { id: "followers_1000", unit: "ms", floor: null, goal: 1 / 3 };

const database = "bench";
/** An experiment that has not ended, and has no trial of its own yet. */
const experimentId = 150;
const linesPerSecond = 10;

export async function followersBeside(context: BenchContext): Promise<BenchResult> {
  const [trials, followersOfTrial] = context.size === "tiny" ? [2, 2] : [10, 100];
  const forMs = { tiny: 100, short: 10_000, full: 30_000 }[context.size];
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startTestPostgres({ fsync: true }));
  const url = await createGatewayDatabase(postgres, database);
  const log = stack.use(createPostgresLog({ connectionString: url }));
  await appendNew(log, experiment(experimentId));
  for (let number = 1; number <= trials; number += 1) {
    const { type, data } = trialCreated(experimentId, {});
    const created = { type, data: { ...data, number } } as AnyEvent;
    await appendNew(log, [{ stream: `trial-${experimentId}.${number}`, events: [created] }]);
  }
  const hub = createMemoryBus();
  const gateway = await openGateway(stack, postgres, database, { bus: hub.connect("gateway") });
  const logs = hub.connect("logs");
  const lines = new Lines(logs);
  stack.use(await logs.serve("logs", lines.handlers()));
  const gatewayUrl = postgres.url({ user: "ty_gateway", database });
  const [token = "", ...others] = await tokensOf(gatewayUrl, 1 + trials);
  const other = new Client({ url: gateway.address, token });
  await untilFolded(async () => (await other.call("listExperiments", {})).items.length === 1);
  await untilFolded(async () => (await other.call("listTrials", idOf())).items.length === trials);
  const alone = await latencies(other, forMs);
  const queriesBefore = lines.queries;
  const beganMs = performance.now();
  const following = new Following(gateway.address);
  stack.defer(() => following.leave());
  for (const [index, own] of others.entries()) {
    const trial = `${experimentId}.${index + 1}`;
    for (let n = 0; n < followersOfTrial; n += 1) following.follow(trial, own);
  }
  let written = 0;
  const writing = setInterval(() => {
    lines.write(`${experimentId}.${1 + (written % trials)}`);
    written += 1;
  }, 1_000 / linesPerSecond);
  const beside = await latencies(other, forMs);
  clearInterval(writing);
  const seconds = (performance.now() - beganMs) / 1_000;
  context.say(
    `  ${following.open} followers, ${((lines.queries - queriesBefore) / seconds).toFixed(0)} queries for lines a second; ` +
      `p50 ${percentile(beside, 0.5).toFixed(1)} ms, alone ${percentile(alone, 0.5).toFixed(1)} ms`,
  );
  const note = `p95 of another caller's list from when ${trials * followersOfTrial} followers of ${trials} trials connect, with ${linesPerSecond} lines a second; baseline: alone`;
  return costResult(followersBar, percentile(beside, 0.95), percentile(alone, 0.95), note);
}

const idOf = () => ({ experiment: String(experimentId) });

/** Lines in memory, in place of the logs service. */
class Lines {
  readonly #bus: Bus;
  readonly #counts = new Map<string, number>();
  queries = 0;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  write(trial: string): void {
    this.#counts.set(trial, (this.#counts.get(trial) ?? 0) + 1);
    this.#bus.publishLive("LOGS", logSubject(trial), new Uint8Array());
  }

  handlers() {
    const QueryLines: CommandTable<"logs">["QueryLines"] = async ({ task, after }) => {
      this.queries += 1;
      const from = Number(after);
      const last = this.#counts.get(task) ?? 0;
      const lines = Array.from({ length: Math.max(0, last - from) }, (_, n) =>
        lineOf(task, from + n + 1),
      );
      return { lines, more: false, next: String(last) };
    };
    return commandHandlers("logs", { QueryLines }, createLogger("logs", "silent"));
  }
}

const lineOf = (trial: string, sequence: number) => ({
  ...{ trial, run: 1, cursor: String(sequence), level: LogLevel.INFO, receivedAtMs: 1 },
  line: {
    ...{ allocation: `${trial}#1`, nodeRank: 0, sequence, atMs: 1, continued: false },
    ...{ source: LogSource.STDOUT, text: `step ${sequence}: loss 0.123456` },
  },
});

/** Clients that read their streams and drop them, since they share the processor with the gateway here. */
class Following {
  readonly #url: string;
  readonly #requests: ReturnType<typeof request>[] = [];
  open = 0;

  constructor(url: string) {
    this.#url = url;
  }

  follow(trial: string, token: string): void {
    const headers = { authorization: `Bearer ${token}` };
    const url = `${this.#url}/api/v1/trials/${trial}/logs:follow`;
    const asked = request(url, { agent: false, headers }, (answer) => {
      this.open += answer.statusCode === 200 ? 1 : 0;
      answer.on("error", () => {}).resume();
    });
    this.#requests.push(asked.on("error", () => {}));
    asked.end();
  }

  leave(): void {
    for (const asked of this.#requests) asked.destroy();
  }
}
