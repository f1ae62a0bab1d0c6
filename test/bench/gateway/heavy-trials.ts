/** Lists of trials with large validations, eight at once, beside the list of another caller. */
import type { AnyEvent } from "@trainyard/contracts";
import { createPostgresLog } from "@trainyard/event-log";
import { Client } from "@trainyard/client";
import { startTestPostgres } from "@trainyard/testing";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { createGatewayDatabase, openGateway, untilFolded } from "../support/gateway.ts";
import { percentile } from "../support/measure.ts";
import { appendNew, experiment, trialCreated, validation } from "./experiments.ts";
import { tokensOf } from "./watch-cost.ts";

export const heavyBar = { id: "trial_list_heavy", unit: "ms", floor: null, goal: 1 / 3 };

const database = "bench";
const listsAtOnce = 8;
/** An experiment that has no trial of its own yet. */
const experimentId = 3;

export async function heavyTrials(context: BenchContext): Promise<BenchResult> {
  const [trials, validations, names] = context.size === "tiny" ? [2, 2, 50] : [20, 34, 3_600];
  const forMs = { tiny: 100, short: 10_000, full: 30_000 }[context.size];
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startTestPostgres({ fsync: true }));
  const url = await createGatewayDatabase(postgres, database);
  const log = stack.use(createPostgresLog({ connectionString: url }));
  await appendNew(log, experiment(experimentId));
  for (let number = 1; number <= trials; number += 1) {
    const trial = `${experimentId}.${number}`;
    const { type, data } = trialCreated(experimentId, {});
    const created = { type, data: { ...data, number } } as AnyEvent;
    await appendNew(log, [{ stream: `trial-${trial}`, events: [created] }]);
    for (let step = 0; step < validations; step += 1) {
      const events = [validationOf(trial, step + 1, names)];
      await appendNew(log, [{ stream: `measurement-${trial}`, events, version: step }]);
    }
  }
  const gateway = await openGateway(stack, postgres, database);
  await untilFolded(async () => {
    const { items } = await gateway.client.call("listTrials", { experiment: String(experimentId) });
    return items.length === trials && items.every((one) => one.stepsCompleted === validations);
  });
  const [token = ""] = await tokensOf(postgres.url({ user: "ty_gateway", database }), 1);
  const other = new Client({ url: gateway.address, token });
  await untilFolded(async () => (await other.call("listExperiments", {})).items.length === 1);
  const alone = await latencies(other, forMs);
  let over = false;
  // The callers do not parse the answers, since they share the processor with the gateway here.
  const headers = { authorization: `Bearer ${gateway.token}` };
  const page = `${gateway.address}/api/v1/experiments/${experimentId}/trials?pageSize=20`;
  const heavy = Array.from({ length: listsAtOnce }, async () => {
    while (!over) await (await fetch(page, { headers })).arrayBuffer();
  });
  const beside = await latencies(other, forMs);
  over = true;
  await Promise.all(heavy);
  const note = `p95 of another caller's list beside ${listsAtOnce} lists at once of ${trials} trials with ${validations} validations of ${names} values; baseline: alone`;
  return costResult(heavyBar, percentile(beside, 0.95), percentile(alone, 0.95), note);
}

/** Each validation is better than the one before. */
function validationOf(trial: string, step: number, names: number): AnyEvent {
  const { type, data } = validation(trial, step, 1 / step);
  const scalars: Record<string, number> = { loss: 1 / step };
  for (let layer = 1; layer < names; layer += 1) scalars[`layer.${layer}.norm`] = Math.random();
  return { type, data: { ...data, scalars } } as AnyEvent;
}

/** Returns the times of a caller's lists of experiments, one after the other, in milliseconds. */
export async function latencies(client: Client, forMs: number): Promise<readonly number[]> {
  const taken: number[] = [];
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    const start = performance.now();
    await client.call("listExperiments", { pageSize: 20 });
    taken.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return taken;
}
