/** The cost of the Web UI in a browser: the size of the first load, and measurements in Chromium. */
import { join } from "node:path";
import { buildWeb, checkout, webBuild } from "@trainyard/local-cluster";
import { findChromium } from "../../browser/support/chromium.ts";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { Browsers } from "./browser.ts";
import { chartPan } from "./chart-pan.ts";
import { compareOpen } from "./compare-open.ts";
import { firstLoadKb } from "./first-load.ts";
import { firstRows } from "./first-rows.ts";
import { heapHour } from "./heap-hour.ts";
import { logBurst } from "./log-burst.ts";
import { startRunning } from "./running.ts";

const bundleBar = { id: "bundle_gzip_kb", unit: "kB", floor: null, goal: null };

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const build = webBuild(checkout);
  if (build === null) throw new Error("the checkout has no built Web UI");
  context.say("  building the pages");
  await buildWeb(build, join(checkout, ".cache", "web-build.log"));
  const kb = firstLoadKb(build.folder);
  const bundle = costResult(bundleBar, kb, null, "aim: 320 at most, with our own code");
  const { program, ...found } = findChromium();
  if (program === null) {
    context.say(`  the other figures need what is not here: ${"why" in found ? found.why : ""}`);
    return [bundle];
  }
  await using stack = new AsyncDisposableStack();
  const browsers = await Browsers.start(stack, program, context.size === "tiny");
  return [
    bundle,
    ...(await firstRows(context, browsers, build.folder)),
    ...(await chartPan(context, browsers)),
    ...(await compareOpen(context, browsers, build.folder)),
    ...(await whileRunning(context, browsers)),
  ];
}

/** Runs the measurements that need a cluster. */
async function whileRunning(
  context: BenchContext,
  browsers: Browsers,
): Promise<readonly BenchResult[]> {
  if (!context.wants("log_burst_longtasks", "heap_hour")) return [];
  await using stack = new AsyncDisposableStack();
  const running = await startRunning(stack, context);
  return [
    ...(await logBurst(context, browsers, running)),
    ...(await heapHour(context, browsers, running)),
  ];
}
