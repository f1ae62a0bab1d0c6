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
  readonly trials: number;
};

const configOf = (trials: number): string => `
name: running
entrypoint: python3 running_trial.py
hyperparameters: { x: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: ${trials} }
`;

export async function startRunning(
  stack: AsyncDisposableStack,
  context: BenchContext,
): Promise<Running> {
  const trials = context.size === "tiny" ? 1 : 4;
  const cluster = stack.use(benchCluster(context, { slots: trials, web: true }));
  await cluster.up();
  const access = clusterAccess(cluster.home);
  if (access === null) throw new Error("the cluster is not up");
  const client = cluster.client();
  const packed = ["-czf", "-", "-C", import.meta.dirname, "running_trial.py"];
  const code = execFileSync("tar", packed, { maxBuffer: 1024 * 1024 });
  const config = configOf(trials);
  const answer = await client.call("createExperiment", { config, context: code });
  const experiment = answer.experiment?.id ?? "";
  stack.defer(async () => void (await client.call("killExperiment", { experiment })));
  await reportedAll(client, experiment, trials);
  return { client, api: access.api, token: access.token, experiment, trials };
}

/** Follows the trials' lines until each has printed that it has reported. */
async function reportedAll(client: Client, experiment: string, trials: number): Promise<void> {
  const enough = new AbortController();
  let reported = 0;
  const lines = client.stream("followExperimentLogs", { experiment }, { signal: enough.signal });
  for await (const { message } of lines) {
    if (message.text === "reported") reported += 1;
    if (reported === trials) break;
  }
  enough.abort();
}
