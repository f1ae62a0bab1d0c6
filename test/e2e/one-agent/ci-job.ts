/** The script of docs/integrate/ci.md, run as it is printed there. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../scripts/lib/root.ts";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const guide = readFileSync(join(root, "docs/integrate/ci.md"), "utf8");
const script = /```sh\n(.*?)```/s.exec(guide)?.[1] ?? "exit 99";

/** Starts the job in a folder with an experiment of the entrypoint. */
function start(job: string, entrypoint: string) {
  const searcher = "{ name: single, metric: loss }";
  const text = `name: ${job}\nentrypoint: ${entrypoint}\nsearcher: ${searcher}\nmax_restarts: 0\n`;
  world.write(`${job}/experiment.yaml`, text);
  world.write(`${job}/code/train.py`, "");
  const { api, token } = world.access;
  const child = spawn("sh", ["-c", script], {
    cwd: join(world.folder, job),
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      PATH: `${join(root, "bin")}:${process.env["PATH"]}`,
      ...{ TRAINYARD_URL: api, TRAINYARD_TOKEN: token, CI_JOB_ID: job },
    },
  });
  const seen = { out: "" };
  child.stdout.on("data", (chunk: Buffer) => (seen.out += chunk.toString()));
  const code = new Promise((resolve) => child.on("close", (exit) => resolve(exit)));
  return { child, code, seen };
}

test("the CI job passes if its experiment completes, and fails if it fails", async () => {
  const passed = start("ci-passes", '"true"');
  const failed = start("ci-fails", '"false"');
  expect([await passed.code, await failed.code]).toEqual([0, 1]);
});

test("the CI job that is cancelled kills its experiment", async () => {
  const { child, code, seen } = start("ci-cancelled", "sleep 600");
  const experimentOf = () => /^experiment (\d+)$/m.exec(seen.out)?.[1] ?? "";
  await eventually("the job has submitted", async () => experimentOf() !== "");
  child.kill("SIGTERM");
  expect(await code).toBe(143);
  expect(await world.end(experimentOf())).toBe("CANCELED");
});
