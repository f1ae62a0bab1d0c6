/**
 * An experiment whose two trials report through nginx, one by the Python SDK, the other by a scripted process over HTTP
 * and gRPC. It is followed there over server-sent events and gRPC, by the TypeScript client and the Python client.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "@trainyard/client";
import { checkout } from "@trainyard/local-cluster";
import { type Report, Reporter } from "../../metrics/reporters.ts";
import {
  destinationOf,
  differences,
  type Stored,
  storedPoints,
  textOfPoint,
  textOfReport,
  untilAllHeard,
  violationsOf,
} from "../../metrics/stored.ts";
import { subscribe } from "../../metrics/subscribers.ts";
import { eventually } from "../../world/eventually.ts";
import type { Ports } from "../../world/replica.ts";
import { world } from "./cluster.ts";

const config = (url: string, reportsUrl: string, enough: string): string => `
name: replicated
entrypoint: env TRAINYARD_API_URL=${url} TRAINYARD_METRICS_URL=${reportsUrl} ENOUGH=${enough} python3 train.py
hyperparameters: { isReported: { type: categorical, vals: [true, false] } }
searcher: { name: grid, metric: loss }
max_restarts: 0
`;

const train = `
import os
import time

import trainyard

with trainyard.init() as ctx:
    step = 0
    while not os.path.exists(os.environ["ENOUGH"]):
        time.sleep(0.05)
        if ctx.info.hparams["isReported"]:
            step += 1
            print(f"step {step}", flush=True)
            ctx.train.report_training_metrics(step, {"loss": 1.0 / step})
`;

const follow = `
import json
import os
import threading

from trainyard.client import Client

experiment, trial = os.environ["EXPERIMENT"], os.environ["TRIAL"]
heard = {"points": [], "lines": []}


def points():
    for update in Client().follow_metrics(experiment, after="0"):
        heard["points"].append([update.position, update.point.trial, update.point.key])


def lines():
    heard["lines"].extend(line.text for line in Client().get_trial(trial).logs(follow=True))


threads = [threading.Thread(target=one) for one in (points, lines)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(heard))
`;

type Heard = {
  readonly points: readonly (readonly [position: string, trial: string, key: string])[];
  readonly lines: readonly string[];
};

async function followInPython(url: string, experiment: string, trial: string): Promise<Heard> {
  const { stdout } = await promisify(execFile)("python3", ["-c", follow], {
    env: {
      PATH: process.env["PATH"],
      PYTHONPATH: join(checkout, "libs", "sdk-python", "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      TRAINYARD_URL: url,
      TRAINYARD_TOKEN: world.access.token,
      ...{ EXPERIMENT: experiment, TRIAL: trial },
    },
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout) as Heard;
}

/** Starts the experiment, its reporter and its followers. */
export async function startReplicatedRun(client: Client, front: Ports, reports: Ports) {
  const [url, reportsUrl] = [front, reports].map(({ http }) => `http://127.0.0.1:${http}`);
  const enough = join(world.folder, "enough-reports");
  world.write("replicated/train.py", train);
  const experiment = await world.submit(config(url ?? "", reportsUrl ?? "", enough), "replicated");
  await world.untilTrials(
    experiment,
    (all) =>
      all.length === 2 && all.every(({ runs }) => runs.some(({ state }) => state === "RUNNING")),
  );
  const { items } = await client.call("listTrials", { experiment });
  const reportsItself = (trial: (typeof items)[number]): boolean =>
    JSON.stringify(trial.hyperparameters).includes("true");
  const trial = items.find(reportsItself)?.id ?? "";
  const other = items.find((one) => !reportsItself(one))?.id ?? "";
  const destination = await destinationOf(world, `${other}#1`);
  const grpc = `127.0.0.1:${reports.grpc}`;
  const reporter = new Reporter({ ...destination, http: reportsUrl ?? "", grpc }, 1, 50);
  const [enoughReported, over] = [new AbortController(), new AbortController()];
  const reporting = reporter.run(enoughReported.signal);
  const subscribers = subscribe({
    ...{ experiment, token: world.access.token, seed: 1, until: over.signal },
    client: () => client,
    grpc: () => `127.0.0.1:${front.grpc}`,
  });
  const lines: string[] = [];
  const following = (async () => {
    for await (const { message } of client.stream("followTrialLogs", { trial }, { outlast: true }))
      lines.push(message.text);
  })();
  const inPython = followInPython(url ?? "", experiment, trial);
  return {
    experiment,
    /** Ends the run. Returns a sentence for each report, point or line that is lost, doubled or refused. */
    end: async (): Promise<readonly string[]> => {
      enoughReported.abort();
      await reporting;
      // A stream of lines ends with its run: what the agent holds while logs is away must arrive before.
      const reported = (await storedPoints(world, [trial])).length;
      await eventually("the lines have arrived", async () => stepsOf(lines).length >= reported);
      world.write("enough-reports", "");
      const state = await world.end(experiment);
      const heard = await inPython;
      await following;
      const stored = await storedPoints(world, [trial, other]);
      await untilAllHeard(subscribers, stored.length);
      over.abort();
      await Promise.all(subscribers.map(({ running }) => running));
      return [
        ...(state === "COMPLETED" ? [] : [`the experiment ended as ${state}`]),
        ...reporter.violations,
        ...differences("the lines over server-sent events", lines, heard.lines),
        ...wrongPoints(stored, heard, { trial, other: { trial: other, truth: reporter.truth } }),
        ...subscribers.flatMap((subscriber) => violationsOf(subscriber, stored, 0)),
      ].slice(0, 20);
    },
  };
}

type Trials = {
  /** The trial that reports its steps by the SDK, and prints each. */
  readonly trial: string;
  readonly other: { readonly trial: string; readonly truth: readonly Report[] };
};

const stepsOf = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line.startsWith("step "));

/** Compares the stored points with the reports, and the points and lines in Python with both. */
function wrongPoints(
  stored: readonly Stored[],
  heard: Heard,
  { trial, other }: Trials,
): readonly string[] {
  const steps = stepsOf(heard.lines);
  const expected = steps.map((_, index) => `step ${index + 1}`);
  const [own, others] = [trial, other.trial].map((of) =>
    stored.filter((point) => point.trial === of),
  );
  const keyOf = (ofTrial: string, key: string): string => `${ofTrial} ${key}`;
  return [
    ...differences(
      "the SDK's reports",
      (own ?? []).map(({ stepsCompleted }) => `step ${stepsCompleted}`),
      expected,
    ),
    ...differences(
      "the stored table",
      (others ?? []).map(textOfPoint),
      other.truth.map((report) => textOfReport(other.trial, report)),
    ),
    ...differences("the lines in Python", steps, expected),
    ...differences(
      "the points in Python",
      heard.points.map(([, ofTrial, key]) => keyOf(ofTrial, key)),
      stored.map((point) => keyOf(point.trial, point.key)),
    ),
  ];
}
