import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programFile } from "@trainyard/kernel/program-file";
import { afterEach, beforeEach, expect, test } from "vitest";

const main = programFile(join(import.meta.dirname, "..", "main.ts"));
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "search-"));
  file = join(folder, "config.yaml");
  writeFileSync(
    file,
    `entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: adaptive_asha, metric: loss, max_trials: 32, max_time: 64, time_metric: batches }
`,
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

function preview(...args: readonly string[]) {
  const words = [main, "search", "preview", file, ...args];
  const env = { PATH: process.env["PATH"], TRAINYARD_HOME: folder };
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

test("search preview prints, without a cluster, how many trials end at which time", () => {
  const { status, stdout } = preview("-o", "json");
  expect(status).toBe(0);
  const { rungs, total } = JSON.parse(stdout) as {
    rungs: { trials: number; bracket: number }[];
    total: { trials: number; units: number }[];
  };
  expect(rungs.reduce((sum, { trials }) => sum + trials, 0)).toBe(32);
  expect(total.map(({ units }) => units)).toEqual([4, 16, 64]);
  expect(preview().stdout).toContain("in all 32 trials");
});

test("an override applies, and an invalid configuration is refused with its key", () => {
  expect(preview("--config", "searcher.max_trials=5").stdout).toContain("in all 5 trials");
  expect(preview("--config", "searcher.max_trials=none")).toMatchObject({ status: 2, stdout: "" });
  expect(preview("--config", "searcher.max_trials=none").stderr).toContain("searcher.max_trials: ");
});
