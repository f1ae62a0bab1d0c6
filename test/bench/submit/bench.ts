/**
 * The time from submitting an experiment to the first line of its first trial, compared with starting the same Python
 * by hand.
 */
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "@trainyard/client";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { benchCluster } from "../support/cluster.ts";
import { interleave } from "../support/measure.ts";

const extraBar = { id: "submit_extra_ms", unit: "ms", floor: null, goal: null };
const wholeBar = { id: "submit_first_line_vs_direct", unit: "ms", floor: null, goal: null };
const roundMs = 300_000;

const script = `print("first line", flush=True)\n`;
const config = `name: bench-submit
entrypoint: python3 main.py
searcher:
  name: single
  metric: loss
resources:
  slots_per_trial: 1
max_restarts: 0
`;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const rounds = { tiny: 1, short: 15, full: 60 }[context.size];
  const folder = mkdtempSync(join(tmpdir(), "trainyard-submit-"));
  try {
    writeFileSync(join(folder, "main.py"), script);
    const { stdout: packed } = await promisify(execFile)(
      "tar",
      ["-czf", "-", "-C", folder, "main.py"],
      { encoding: "buffer" },
    );
    await using cluster = benchCluster(context);
    await cluster.up();
    const client = cluster.client();
    const [direct, ours] = await interleave(
      [
        { name: "python3 by hand", round: () => directMs(folder) },
        { name: "submitted", round: () => submittedMs(client, packed) },
      ],
      rounds,
      context,
    );
    const times = `${direct.toFixed(1)} ms by hand, ${ours.toFixed(1)} ms submitted`;
    return [
      costResult(extraBar, ours - direct, null, `aim: under 300; ${times}`),
      costResult(wholeBar, ours, direct, "seen by a client that follows the log over HTTP"),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function directMs(folder: string): Promise<number> {
  const start = performance.now();
  const child = spawn("python3", ["main.py"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  await once(child.stdout, "data");
  const tookMs = performance.now() - start;
  await exit;
  return tookMs;
}

/** Resolves when the experiment has ended, so that the next round finds an idle cluster. */
async function submittedMs(client: Client, packed: Uint8Array): Promise<number> {
  const signal = AbortSignal.timeout(roundMs);
  const start = performance.now();
  const { experiment } = await client.call(
    "createExperiment",
    { config, context: packed },
    { idempotencyKey: randomUUID(), signal },
  );
  const id = experiment?.id ?? "";
  let firstMs = Number.NaN;
  const lines = client.stream("followExperimentLogs", { experiment: id }, { signal });
  for await (const { message } of lines) {
    if (Number.isNaN(firstMs) && message.text.includes("first line")) {
      firstMs = performance.now() - start;
    }
  }
  if (Number.isNaN(firstMs)) throw new Error(`experiment ${id} ended without its first line`);
  return firstMs;
}
