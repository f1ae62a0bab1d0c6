/** The time from the navigation to the list of experiments until its first rows are painted. */
import { openFilled } from "../gateway/filled.ts";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { median, percentile } from "../support/measure.ts";
import { type Browsers, signedIn, signedInProfile } from "./browser.ts";
import { type Visit, visited } from "./visit.ts";

const aimMs = 300;
const bar = { id: "first_rows_ms", unit: "ms", floor: null, goal: 1 };

const firstRow = `document.querySelector("[role=grid] [role=gridcell]") !== null`;

/**
 * `firsts` are visits of new profiles: the first one starts the browser's processes and fills the database's cache.
 * `visits` are of one profile: the browser caches compiled scripts from the second or third visit on. Those that are
 * skipped are made before and not counted.
 */
const sizes = {
  tiny: { count: 100, firsts: 1, firstsSkipped: 0, visits: 1, visitsSkipped: 0 },
  short: { count: 100_000, firsts: 5, firstsSkipped: 1, visits: 40, visitsSkipped: 4 },
  full: { count: 100_000, firsts: 15, firstsSkipped: 1, visits: 100, visitsSkipped: 4 },
} as const;

/** The gateway runs in this process over a database of its own, and the browser on the same cores. */
export async function firstRows(
  context: BenchContext,
  browsers: Browsers,
  webDir: string,
): Promise<readonly BenchResult[]> {
  if (!context.wants(bar.id)) return [];
  const { count, firsts, firstsSkipped, visits, visitsSkipped } = sizes[context.size];
  await using stack = new AsyncDisposableStack();
  const { address, token } = await openFilled(stack, context, count, webDir);
  const url = `${address}/experiments`;
  const browser = await browsers.open(stack);
  const cold: Visit[] = [];
  for (let index = -firstsSkipped; index < firsts; index += 1) {
    await using profile = new AsyncDisposableStack();
    const visit = await visited(await signedIn(profile, browser, address, token), url, firstRow);
    if (index >= 0) cold.push(visit);
  }
  const own = await signedInProfile(stack, browsers.program, address, token);
  const warm: Visit[] = [];
  for (let index = -visitsSkipped; index < visits; index += 1) {
    const visit = await visited(own, url, firstRow);
    if (index >= 0) warm.push(visit);
  }
  const msOf = (all: readonly Visit[]): readonly number[] => all.map(({ ms }) => ms);
  const task = median(warm.map(({ taskMs }) => taskMs));
  const p50 = median(msOf(warm));
  const first = median(msOf(cold));
  context.say(`  p50 ${p50.toFixed(0)} ms, main thread ${task.toFixed(0)} ms`);
  const note = `p95 of ${visits} new tabs, p50 ${p50.toFixed(0)} ms, of which ${task.toFixed(0)} ms processor time of the page; a first visit takes ${first.toFixed(0)} ms; ${count} experiments; baseline is the aim`;
  return [costResult(bar, percentile(msOf(warm), 0.95), aimMs, note)];
}
