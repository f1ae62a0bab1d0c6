/** The two ways in which a cluster is tried. Each ends with the deletion of its experiment, unless it has failed. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import type { Agent, Experiment } from "@trainyard/contracts/api";
import { create } from "tar";
import { type Attempt, failed } from "./attempt.ts";

const name = "helm-test";
const metric = "loss";

/** Runs an experiment of a few steps on a free agent, and checks its metric and its checkpoint. */
export async function tryWithAgent(attempt: Attempt, agent: Plain<Agent>): Promise<void> {
  const { client, say } = attempt;
  say(`agent ${agent.name} of the pool ${agent.pool} has a free slot: an experiment runs there`);
  const { id } = await submit(attempt, agent.pool, false);
  const ended = await endOf(attempt, id);
  if (ended.state !== "COMPLETED") {
    const reason = (ended.reason.split("\n")[0] ?? "").replace(/\.$/, "");
    const told = `experiment ${id} ended ${ended.state}: ${reason}`;
    throw failed(`${told}; "yard experiment logs ${id}" has its output`);
  }
  const loss = await attempt.until(
    async () => {
      const { items } = await client.call("listTrials", { experiment: id });
      return items[0]?.latestValidation[metric] ?? null;
    },
    () => `experiment ${id} completed, and its metric "${metric}" has not arrived`,
  );
  say(`experiment ${id}: its metric ${metric} is ${loss}`);
  const checkpoint = await attempt.until(
    async () => {
      const { items } = await client.call("listCheckpoints", { experiment: id });
      return items.find(({ state }) => state === "COMPLETED") ?? null;
    },
    () => `experiment ${id} completed, and has no complete checkpoint`,
  );
  say(`experiment ${id}: its checkpoint ${checkpoint.uuid} is stored`);
  await remove(attempt, id);
  say("the cluster trains, reports and stores checkpoints");
}

/** Makes, reads, kills and deletes an experiment that never runs. */
export async function tryWithoutAgent(attempt: Attempt): Promise<void> {
  attempt.say("no agent with a free slot is there: an experiment is made, read and deleted only");
  const { id } = await submit(attempt, "default", true);
  const key = { idempotencyKey: randomUUID() };
  await attempt.client.call("killExperiment", { experiment: id }, key);
  await endOf(attempt, id);
  await remove(attempt, id);
  attempt.say("the cluster answers, but nothing has trained: no agent with a free slot is there");
}

async function submit(
  { client, say }: Attempt,
  pool: string,
  paused: boolean,
): Promise<Plain<Experiment>> {
  const config = JSON.stringify({
    name,
    description: "made by helm test",
    entrypoint: "python3 train.py",
    searcher: { name: "single", metric },
    resources: { slots_per_trial: 1, resource_pool: pool },
    max_restarts: 0,
  });
  const request = { config, context: await packedCode(), paused, client: name };
  const made = await client.call("createExperiment", request, { idempotencyKey: randomUUID() });
  const experiment = made.experiment?.id ?? "";
  const read = await client.call("getExperiment", { experiment, minPosition: made.position });
  say(`experiment ${read.id}: created`);
  return read;
}

async function packedCode(): Promise<Uint8Array> {
  const cwd = join(import.meta.dirname, "code");
  const chunks: Uint8Array[] = [];
  for await (const chunk of create({ cwd, gzip: true, portable: true }, ["train.py"])) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Waits for the end, and kills an experiment that has not ended in time. */
async function endOf(attempt: Attempt, experiment: string): Promise<Plain<Experiment>> {
  const { client, say } = attempt;
  let last: Plain<Experiment> | null = null;
  try {
    return await attempt.until(
      async () => {
        const now = await client.call("getExperiment", { experiment }, { outlast: true });
        if (now.phase !== last?.phase) say(`experiment ${experiment}: ${now.phase}`);
        last = now;
        return now.endedAtMs === undefined ? null : now;
      },
      () => `experiment ${experiment} is still ${stateOf(last)}`,
    );
  } catch (error) {
    await client.call("killExperiment", { experiment }).catch(() => {}); // The first failure counts.
    throw error;
  }
}

const stateOf = (experiment: Plain<Experiment> | null): string => experiment?.phase ?? "unknown";

async function remove({ client, say }: Attempt, experiment: string): Promise<void> {
  const key = { idempotencyKey: randomUUID() };
  await client.call("deleteExperiment", { experiment, reason: "made by helm test" }, key);
  say(`experiment ${experiment}: deleted`);
}
