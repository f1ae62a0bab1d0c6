/** An embedded cluster with the Web UI, and an experiment whose trials run without any work. */
import { execFileSync } from "node:child_process";
import type { Client } from "@trainyard/client";
import { clusterAccess } from "@trainyard/local-cluster";
import type { BenchContext } from "../support/bench.ts";
import { benchCluster } from "../support/cluster.ts";

export type Running = {
  readonly client: Client;
  readonly api: string;
  readonly token: string;
  readonly experiment: string;
};

export const trials = 4;

const config = `
name: running
entrypoint: python3 running_trial.py
hyperparameters: { x: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: ${trials} }
`;

export async function startRunning(
  stack: AsyncDisposableStack,
  context: BenchContext,
): Promise<Running> {
  const cluster = stack.use(benchCluster(context, { slots: trials, web: true }));
  await cluster.up();
  const access = clusterAccess(cluster.home);
  if (access === null) throw new Error("the cluster is not up");
  const client = cluster.client();
  const packed = ["-czf", "-", "-C", import.meta.dirname, "running_trial.py"];
  const code = execFileSync("tar", packed, { maxBuffer: 1024 * 1024 });
  const answer = await client.call("createExperiment", { config, context: code });
  const experiment = answer.experiment?.id ?? "";
  stack.defer(async () => void (await client.call("killExperiment", { experiment })));
  for (;;) {
    const { items } = await client.call("listTrials", { experiment });
    const logs = await Promise.all(
      items.map(({ id }) => client.call("listTrialLogs", { trial: id, pageSize: 100 })),
    );
    const reported = logs.filter((log) => log.items.some(({ text }) => text === "reported"));
    if (reported.length === trials) {
      return { client, api: access.api, token: access.token, experiment };
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
