/**
 * A thousand runs report from one address, beside people there, a client with a token and one with tokens that nobody
 * issued, which send as fast as they can. The gateway limits rates by a Redis, which is frozen, flushed and killed.
 */
import { setTimeout as delay } from "node:timers/promises";
import { runToken } from "@trainyard/runtime";
import { freePort, type RunningRedis, startRedis } from "@trainyard/testing";
import { destinationOf, runTokenKeyOf } from "../metrics/stored.ts";
import { grantOf } from "../world/run-grant.ts";
import { eventually } from "../world/eventually.ts";
import { newPorts, Replica } from "../world/replica.ts";
import type { World } from "../world/world.ts";
import { Flood, ManyRuns, OtherCaller } from "./callers.ts";
import { type HeavyResult, slowdowns, spanOf } from "./heavy.ts";

export type FloodOptions = {
  readonly runs: number;
  readonly reportsPerSecond: number;
  /** The connections of each of the two floods. */
  readonly connections: number;
  /** The time for the person alone, and for each state of Redis. */
  readonly spanMs: number;
  /** The person's calls may take five times as long as alone, or five times as long as this. */
  readonly fastMs: number;
  readonly log: (line: string) => void;
};

/** The rates by default, which an embedded cluster does not have. */
const rates = {
  TRAINYARD_RATE_USER: "200",
  TRAINYARD_RATE_RUN: "50",
  TRAINYARD_RATE_ADDRESS: "200",
};

export async function floodedRuns(world: World, options: FloodOptions): Promise<HeavyResult> {
  const { spanMs, connections, reportsPerSecond, log } = options;
  await using stack = new AsyncDisposableStack();
  const port = await freePort();
  const redis = { running: await startRedis(port) };
  stack.defer(() => redis.running[Symbol.asyncDispose]());
  const [ports, settings] = [
    await newPorts(),
    { ...rates, TRAINYARD_REDIS_URL: `redis://127.0.0.1:${port}` },
  ];
  const gateway = stack.use(new Replica(world, "gateway", ports, settings));
  await gateway.start();
  const url = `http://127.0.0.1:${ports.http}`;
  const experiment = await submitted(world, options.runs);
  const first = await destinationOf(world, `${experiment}.1#1`);
  // Most of the runs wait for a slot. Their tokens name the grant of the first, which the log has.
  const [key, grant] = [runTokenKeyOf(world), await grantOf(world.client, first.run)];
  const runs = Array.from({ length: options.runs }, (_, at) => `${experiment}.${at + 1}#1`);
  const { client } = world;
  const [person, flooding] = [
    (await client.call("createToken", { label: "person" })).secret,
    (await client.call("createToken", { label: "flooding" })).secret,
  ];
  log(`${runs.length} runs are requested`);
  const other = stack.use(
    new OtherCaller({ ...{ url, token: person, run: first }, trial: `${experiment}.1` }),
  );
  await delay(spanMs / 2);
  const alone = await spanOf(() => delay(spanMs));
  const many = stack.use(
    new ManyRuns({
      ...{ url, reportsPerSecond, reports: first.http },
      runs: runs
        .slice(1)
        .map((run) => ({ run, token: runToken(key, { ...grant, allocation: run }) })),
    }),
  );
  const floods = [flooding, null].map((token) => stack.use(new Flood({ url, token, connections })));
  const beside: (Awaited<ReturnType<typeof spanOf>> & { readonly route: string })[] = [];
  for (const [route, enter] of Object.entries(statesOf(redis))) {
    await enter();
    beside.push({ ...(await spanOf(() => delay(spanMs))), route });
  }
  const { answered, refused } = await many.stop();
  const flooded = await Promise.all(floods.map((flood) => flood.stop()));
  const failed = new Set(
    other.samples.flatMap(({ call, status }) => (status === 200 ? [] : [`${call} ${status}`])),
  );
  const slow = slowdowns(other.samples, { alone: [alone], beside, fastMs: options.fastMs });
  return {
    violations: [
      ...(Object.keys(refused).length === 0 ? [] : [`calls of runs: ${JSON.stringify(refused)}`]),
      ...[...failed].map((call) => `a call of the person failed: ${call}`),
      ...slow.violations,
    ],
    summary: `${answered} calls of runs, floods ${JSON.stringify(flooded.map(({ statuses }) => statuses))}; ${slow.summary}`,
  };
}

/** Returns what brings Redis into each state, in this order. */
function statesOf(redis: { running: RunningRedis }): Readonly<Record<string, () => Promise<void>>> {
  return {
    "a Redis": async () => {},
    "a frozen Redis": async () => redis.running.freeze(),
    "a flushed Redis": async () => {
      redis.running.thaw();
      await redis.running.flush();
    },
    "no Redis": async () => {
      await redis.running[Symbol.asyncDispose]();
    },
    "a new Redis": async () => {
      redis.running = await startRedis(redis.running.port);
    },
  };
}

/** Submits an experiment that requests all its runs at once. */
async function submitted(world: World, runs: number): Promise<string> {
  world.write("idle/file", "");
  const searcher = `{ name: random, metric: loss, max_trials: ${runs}, max_concurrent_trials: ${runs} }`;
  const hyperparameters = "{ x: { type: double, minval: 0, maxval: 1 } }";
  const config = { name: "flooded", entrypoint: "sleep 100000", hyperparameters, searcher };
  const lines = Object.entries(config).map(([name, value]) => `${name}: ${value}`);
  const experiment = await world.submit(lines.join("\n"), "idle");
  await eventually("all runs are requested", async () => {
    const { items } = await world.client.call("listTrials", { experiment, pageSize: 1_000 });
    return items.length === runs && items.every((trial) => trial.runs.length > 0);
  });
  return experiment;
}
