/** Events on their way out of the platform. Each part measures one way. */
import type { BenchContext, BenchResult } from "../support/bench.ts";
import * as kafka from "./kafka.ts";

const parts = [kafka];

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  for (const { ids, run: runPart } of parts) {
    if (context.wants(...ids)) results.push(...(await runPart(context)));
  }
  return results;
}
