/** The time from the navigation to a comparison of many trials until all lines of its first chart are drawn. */
import { setTimeout as delay } from "node:timers/promises";
import type { BrowserContext } from "playwright-core";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { median, percentile } from "../support/measure.ts";
import { type Browsers, mainThread, signedInProfile } from "./browser.ts";
import { openCompared } from "./compared.ts";

const aimMs = 800;
const bar = { id: "compare_100_open_ms", unit: "ms", floor: null, goal: 1 };

/**
 * A script for the page: notes the time at which the first chart has all points. A message that is posted in the frame
 * of its caption arrives once that frame is drawn.
 */
const noteLines = (points: string) => `
  globalThis.linesMs = new Promise((resolve) => {
    const look = () => {
      const caption = document.querySelector("figcaption")?.textContent ?? "";
      if (!caption.includes("${points} points")) {
        requestAnimationFrame(look);
        return;
      }
      const drawn = new MessageChannel();
      drawn.port1.onmessage = () => resolve(performance.now());
      drawn.port2.postMessage(0);
    };
    requestAnimationFrame(look);
  });
`;

type Visit = { readonly ms: number; readonly taskMs: number };

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
  const counted: Visit[] = [];
  for (let index = -skipped; index < visits; index += 1) {
    const visit = await visited(own, `${address}/compare?of=3.all`, points);
    if (index >= 0) counted.push(visit);
    // The work of a visit that outlives its page is not part of the next.
    await delay(200);
  }
  const ms = counted.map((visit) => visit.ms);
  const task = median(counted.map(({ taskMs }) => taskMs));
  const note = `p95 of ${visits} new tabs, p50 ${median(ms).toFixed(0)} ms, of which ${task.toFixed(0)} ms processor time of the page; ${trials.length} trials with ${points / trials.length} points each; baseline is the aim`;
  return [costResult(bar, percentile(ms, 0.95), aimMs, note)];
}

/** Visits the comparison in a new tab. */
async function visited(own: BrowserContext, url: string, points: number): Promise<Visit> {
  const page = await own.newPage();
  await page.addInitScript(noteLines(points.toLocaleString("en-US")));
  const used = await mainThread(page);
  await page.goto(url, { waitUntil: "commit" });
  const ms = await page.evaluate<number>("globalThis.linesMs");
  const { taskMs } = await used();
  await page.close();
  return { ms, taskMs };
}
