/** The cluster of a benchmark of notebooks: its agent has JupyterLab's packages. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@trainyard/client";
import type { ClusterInfo } from "@trainyard/local-cluster";
import { needPackages } from "@trainyard/service-agent/testing/page-servers";
import type { BenchContext } from "../support/bench.ts";
import { type BenchCluster, benchCluster } from "../support/cluster.ts";
import type { ClusterOptions } from "../support/embedded-cluster.ts";

const waitMs = 120_000;

/** The only agent, whose folder the benchmarks read. */
export const agentName = "agent-1";

export type NotebookCluster = AsyncDisposable & {
  readonly cluster: BenchCluster;
  readonly info: ClusterInfo;
  readonly client: Client;
};

/** Returns null, and says why, if this machine has no packages of JupyterLab. */
export async function notebookCluster(
  context: BenchContext,
  options: Omit<ClusterOptions, "slots">,
): Promise<NotebookCluster | null> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(benchCluster(context, { slots: 1, ...options }));
  const info = await cluster.up();
  try {
    await needNotebooks(cluster.home, (note) => {
      throw new NoJupyterError(note);
    });
  } catch (error) {
    if (!(error instanceof NoJupyterError)) throw error;
    context.say(`no notebooks: ${error.message}`);
    return null;
  }
  const owned = stack.move();
  return {
    ...{ cluster, info, client: cluster.client() },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Gives the agent of a cluster JupyterLab's packages, or skips a test. */
export const needNotebooks = (home: string, skip: (note: string) => never): Promise<void> =>
  needPackages(join(home, "agents", agentName), ["notebook"], skip);

class NoJupyterError extends Error {}

/** Starts a notebook without slots; returns its id once its server answers. */
export async function startNotebook(client: Client, config: object): Promise<string> {
  const asked = {
    kind: "notebook",
    config: JSON.stringify({ ...config, resources: { slots: 0 } }),
  };
  const { task } = await client.call("createTask", asked, { idempotencyKey: randomUUID() });
  const id = task?.id ?? "";
  await untilState(client, id, "RUNNING");
  return id;
}

/** Ends notebooks, and returns when their processes are gone. */
export async function endNotebooks(client: Client, tasks: readonly string[]): Promise<void> {
  for (const task of tasks) {
    await client.call("killTask", { task }, { idempotencyKey: randomUUID() });
  }
  for (const task of tasks) await untilState(client, task, "KILLED");
}

async function untilState(client: Client, task: string, state: string): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const found = await client.call("getTask", { task });
    if (found.state === state) return;
    const isOver = ["COMPLETED", "KILLED", "ERROR"].includes(found.state);
    if (isOver || performance.now() > deadlineMs) {
      throw new Error(`${task} is ${found.state} (${found.reason}), and not ${state}`);
    }
    await delay(50);
  }
}
