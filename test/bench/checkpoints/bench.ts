/** Benchmarks of checkpoints, at the sizes that their ids name. */
import type { BenchContext, BenchResult } from "../support/bench.ts";
import { run as gc } from "./gc.ts";
import { run as registryQuery } from "./registry-query.ts";
import { run as transfers } from "./transfers.ts";

const parts = [gc, registryQuery, transfers];

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  for (const part of parts) results.push(...(await part(context)));
  return results;
}
