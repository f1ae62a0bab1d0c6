/**
 * From `yard notebook start` until the page of its link answers, beside a bare `jupyter lab` of the same Python and
 * packages until its page answers.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@trainyard/client";
import { checkout } from "@trainyard/local-cluster";
import { freePort } from "@trainyard/testing";
import { openLink, type Page } from "../proxy/page.ts";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";
import { agentName, endNotebooks, notebookCluster } from "./notebooks.ts";

const bar = { id: "open_vs_jupyter", unit: "s", floor: 0.6, goal: 0.8 };
const rounds = { tiny: 1, short: 7, full: 21 };
const againMs = 10;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  if (!context.wants(bar.id)) return [];
  await using notebooks = await notebookCluster(context, {});
  if (notebooks === null) return [];
  const { cluster, client } = notebooks;
  const folder = mkdtempSync(join(tmpdir(), "trainyard-bench-jupyter-"));
  using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  const packages = packagesOf(cluster.home);
  // The first round of each, which does not count, leaves both warm.
  const [ours, theirs] = await interleave(
    [
      { name: "yard notebook start", round: () => yardSeconds(cluster.home, client) },
      { name: "jupyter lab", round: () => jupyterSeconds(folder, packages) },
    ],
    rounds[context.size],
    context,
  );
  return [
    costResult(
      bar,
      ours,
      theirs,
      "until /lab answers; jupyter lab of the same Python and packages",
    ),
  ];
}

async function yardSeconds(home: string, client: Client): Promise<number> {
  const start = performance.now();
  const child = spawn(join(checkout, "bin", "yard"), ["notebook", "start", "--slots", "0"], {
    env: { ...process.env, TRAINYARD_HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = text(child.stderr);
  const link = await linkOf(child.stdout);
  if (link === null) throw new Error(`yard notebook start: ${await said}`);
  const page = await openLink(link);
  await untilAnswer(page, () => null);
  const seconds = (performance.now() - start) / 1_000;
  await endNotebooks(client, [new URL(link).hostname.split(".")[0] ?? ""]);
  return seconds;
}

/** The link to the task's page, as soon as it is printed; null if none is. */
async function linkOf(output: Readable): Promise<string | null> {
  for await (const line of createInterface({ input: output })) if (line.includes("#")) return line;
  return null;
}

/** The folder of JupyterLab's packages that the agent's notebooks use. */
function packagesOf(home: string): string {
  const folder = join(home, "agents", agentName, "packages");
  const name = readdirSync(folder).find((one) => one.startsWith("notebook-")) ?? "";
  return realpathSync(join(folder, name));
}

async function jupyterSeconds(folder: string, packages: string): Promise<number> {
  const port = await freePort();
  const token = "bench";
  const work = join(folder, "work");
  mkdirSync(work, { recursive: true });
  const place = ["--ServerApp.ip=127.0.0.1", `--ServerApp.port=${port}`, "--allow-root"];
  const app = `--LabApp.app_dir=${join(packages, "share", "jupyter", "lab")}`;
  const given = [`--IdentityProvider.token=${token}`, "--no-browser", app];
  const start = performance.now();
  const child = spawn("python3", ["-m", "jupyterlab", ...place, ...given], {
    cwd: work,
    env: {
      ...process.env,
      HOME: folder,
      PYTHONPATH: [packages, ...(process.env["PYTHONPATH"]?.split(delimiter) ?? [])].join(
        delimiter,
      ),
      JUPYTER_PATH: join(packages, "share", "jupyter"),
      JUPYTER_CONFIG_PATH: join(packages, "etc", "jupyter"),
    },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  const page = { port, headers: { authorization: `token ${token}` } };
  await untilAnswer(page, () => child.exitCode);
  const seconds = (performance.now() - start) / 1_000;
  child.kill("SIGTERM");
  await ended;
  return seconds;
}

/** Waits until the server answers with JupyterLab's page. */
async function untilAnswer(page: Page, exitCode: () => number | null): Promise<void> {
  for (;;) {
    const answer = await asked(page).catch(() => null);
    if (answer?.statusCode === 200 && (await text(answer)).includes("jupyter-config-data")) return;
    if (exitCode() !== null) throw new Error(`the server ended with ${exitCode()}`);
    await delay(againMs);
  }
}

async function asked({ port, headers }: Page): Promise<IncomingMessage> {
  const request = get({ host: "127.0.0.1", port, path: "/lab", headers, agent: false });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return answer;
}
