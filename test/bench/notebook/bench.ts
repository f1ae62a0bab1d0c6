/**
 * A notebook until its page answers, the saves of its folder, and what idle notebooks cost. Without JupyterLab's
 * packages nothing is reported.
 */
import type { BenchContext, BenchResult } from "../support/bench.ts";
import { run as idle } from "./idle.ts";
import { run as open } from "./open.ts";
import { run as saves } from "./saves.ts";

const parts = [open, idle, saves];

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  for (const part of parts) results.push(...(await part(context)));
  return results;
}
