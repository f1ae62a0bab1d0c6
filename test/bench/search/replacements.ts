/**
 * The members that a population replaces in an interval, beside those of Ray Tune where a Python can import it. Ray is
 * never installed for it.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { arrivals, replacementsOf } from "@trainyard/search/testing";
import { pythonImports } from "../../../scripts/lib/virtual-environment.ts";
import type { BenchContext } from "../support/bench.ts";

const call = promisify(execFile);
const script = join(import.meta.dirname, "ray_peer.py");
const QUANTILE = 0.25;
const INTERVALS = 5;
const SEEDS = 20;

type Counts = readonly (readonly number[])[];

/** Prints mean and maximum of the first interval and of the later ones, by population size and order of reports. */
export async function sayReplacements({ say, size }: BenchContext): Promise<void> {
  const python = (await pythonImports("python3", "ray.tune")) ? "python3" : undefined;
  say(
    `pbt replacements in an interval, quantile ${QUANTILE}, ${SEEDS} seeds, mean / max in the first interval and later; ${
      python === undefined ? "Ray Tune cannot be imported" : `beside Ray ${await rays("version")}`
    }`,
  );
  for (const members of size === "tiny" ? [4] : [8, 16, 32]) {
    for (const arrival of arrivals) {
      const of = { members, quantile: QUANTILE, intervals: INTERVALS, arrival };
      const ours = Array.from({ length: SEEDS }, (_, n) => replacementsOf({ ...of, seed: n + 1 }));
      const theirs =
        python === undefined
          ? ""
          : `, Ray ${text((await rays(...Object.values(of).map(String), String(SEEDS))) as Counts)}`;
      const allowed = Math.ceil(QUANTILE * members);
      say(`  ${members} members (${allowed}), ${arrival}: ${text(ours)}${theirs}`);
    }
  }
}

async function rays(...args: readonly string[]): Promise<unknown> {
  const { stdout } = await call("python3", [script, ...args]);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "null");
}

function text(counts: Counts): string {
  const first = counts.map(([one = 0]) => one);
  const later = counts.flatMap((each) => each.slice(1));
  return `${meanAndMost(first)}, ${meanAndMost(later)}`;
}

function meanAndMost(values: readonly number[]): string {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return `${mean.toFixed(1)} / ${Math.max(0, ...values)}`;
}
