/** The time from the navigation to a comparison of many trials until all lines of its first chart are drawn. */
import { setTimeout as delay } from "node:timers/promises";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { median, percentile } from "../support/measure.ts";
import { type Browsers, signedInProfile } from "./browser.ts";
import { openCompared } from "./compared.ts";
import { type Visit, visited } from "./visit.ts";

const aimMs = 800;
const bar = { id: "compare_100_open_ms", unit: "ms", floor: null, goal: 1 };

/** The first chart has all points. */
const linesDrawn = (points: string): string =>
  `document.querySelector("figcaption")?.textContent?.includes("${points} points") === true`;

export async function compareOpen(
  context: BenchContext,
  browsers: Browsers,
  webDir: string,
): Promise<readonly BenchResult[]> {
  if (!context.wants(bar.id)) return [];
  const visits = { tiny: 1, short: 12, full: 30 }[context.size];
  const skipped = context.size === "tiny" ? 0 : 3;
  await using stack = new AsyncDisposableStack();
  const compared = await openCompared(stack, context, webDir);
  const { address, token, trials, points } = compared;
  const own = await signedInProfile(stack, browsers.program, address, token);
  const condition = linesDrawn(points.toLocaleString("en-US"));
  const counted: Visit[] = [];
  for (let index = -skipped; index < visits; index += 1) {
    const visit = await visited(own, `${address}/compare?of=3.all`, condition);
    if (index >= 0) counted.push(visit);
    // The work of a visit that outlives its page is not part of the next.
    await delay(200);
  }
  const ms = counted.map((visit) => visit.ms);
  const task = median(counted.map(({ taskMs }) => taskMs));
  const note = `p95 of ${visits} new tabs, p50 ${median(ms).toFixed(0)} ms, of which ${task.toFixed(0)} ms processor time of the page; ${trials.length} trials with ${points / trials.length} points each; baseline is the aim`;
  return [costResult(bar, percentile(ms, 0.95), aimMs, note)];
}
