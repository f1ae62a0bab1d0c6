/** The cost of the pages for a browser. */
import { join } from "node:path";
import { buildWeb, checkout, webBuild } from "@trainyard/local-cluster";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { firstLoadKb } from "./first-load.ts";

const bundleBar = { id: "bundle_gzip_kb", unit: "kB", floor: null, goal: null };

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const build = webBuild(checkout);
  if (build === null) throw new Error("the checkout has no pages");
  context.say("  building the pages");
  await buildWeb(build, join(checkout, ".cache", "web-build.log"));
  const kb = firstLoadKb(build.folder);
  return [costResult(bundleBar, kb, null, "aim: 320 at most, with our own code")];
}
