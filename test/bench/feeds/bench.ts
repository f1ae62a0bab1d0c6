/** Events on their way out of the platform. Each part measures one way. */
import type { BenchContext, BenchResult } from "../support/bench.ts";
import * as kafka from "./kafka.ts";
import * as pull from "./pull.ts";
import * as replay from "./replay.ts";

const parts = [kafka, pull, replay];

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  for (const { ids, run: runPart } of parts) {
    if (context.wants(...ids)) results.push(...(await runPart(context)));
  }
  return results;
}
