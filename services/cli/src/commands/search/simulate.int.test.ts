import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programFile } from "@trainyard/kernel/program-file";
import { afterEach, beforeEach, expect, test } from "vitest";

const main = programFile(join(import.meta.dirname, "..", "..", "main.ts"));
let folder: string;
let config: string;
let table: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "simulate-"));
  config = join(folder, "config.yaml");
  // The configuration has only a searcher: the table supplies everything else.
  writeFileSync(config, "searcher: { name: asha, max_trials: 500, max_time: 100 }\n");
  table = join(folder, "curves.json");
  const rows = Array.from({ length: 40 }, (_, i) => i);
  writeFileSync(
    table,
    JSON.stringify({
      hp_names: ["lr"],
      hp: rows.map((row) => [10 ** (-row / 8)]),
      valid: rows.map((row) => Array.from({ length: 9 }, (_, step) => 1 + row / (step + 1))),
    }),
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

function simulate(...args: readonly string[]) {
  const words = [main, "search", "simulate", config, ...args];
  const env = { PATH: process.env["PATH"], TRAINYARD_HOME: folder };
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

test("a searcher runs against a table of curves without a cluster", () => {
  const { status, stdout, stderr } = simulate("--table", table, "--seeds", "3", "-o", "json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const { seeds, summary } = JSON.parse(stdout) as {
    seeds: { seed: number; incumbents: number[]; trials: number; stopped: number }[];
    summary: { budget: number; q25: number; median: number; q75: number }[];
  };
  expect(seeds.map(({ seed, trials }) => [seed, trials])).toEqual([
    [1, 40],
    [2, 40],
    [3, 40],
  ]);
  expect(seeds.every(({ stopped }) => stopped > 20)).toBe(true);
  expect(summary.map(({ budget }) => budget)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  expect(summary[49]).toEqual({ budget: 50, q25: 1, median: 1, q75: 1 });
  const people = simulate("--table", table, "--seeds", "3", "--budget", "4").stdout;
  expect(people.split("\n")).toHaveLength(7);
  expect(people).toContain("3 searches, in the mean ");
});

test.each([
  [["--table", "nowhere.json"], "does not exist"],
  [["--table", "config.yaml"], "must end in .json"],
  [["--workers", "0"], "It must be a whole number from 1"],
  [["--config", "searcher.max_trails=1"], "searcher.max_trails: is not a known key"],
])("search simulate prints an error as one sentence: %j", (args, sentence) => {
  const tabled = args.includes("--table") ? args : ["--table", table, ...args];
  const { status, stdout, stderr } = simulate(...tabled);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain(sentence);
});
