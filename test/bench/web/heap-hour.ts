/**
 * The memory of the Web UI over an hour of live frames, which are replayed as fast as the browser reads them. A list of
 * experiments and an experiment with reporting trials are open in two tabs, which share the browser's live connection.
 */
import { eventually } from "../../world/eventually.ts";
import type { Browser, CDPSession, Page } from "playwright-core";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { type Browsers, signedIn } from "./browser.ts";
import { Hour } from "./hour.ts";
import { startRelay } from "./relay.ts";
import type { Running } from "./running.ts";

/** The number of reports that the trials' script makes. */
const reportedBefore = 2;
const bar = { id: "heap_hour", unit: "MB", floor: 0.9, goal: 0.9 };

export async function heapHour(
  context: BenchContext,
  browsers: Browsers,
  { client, api, token, experiment, trials }: Running,
): Promise<readonly BenchResult[]> {
  if (!context.wants(bar.id)) return [];
  const seconds = { tiny: 10, short: 3_600, full: 36_000 }[context.size];
  const { items } = await client.call("listTrials", { experiment });
  const hour = new Hour(await client.call("getExperiment", { experiment }), items);
  await using stack = new AsyncDisposableStack();
  const relay = stack.use(await startRelay(api, hour));
  const browser = await browsers.open(stack);
  const own = await signedIn(stack, browser, relay.address, token);
  const list = await own.newPage();
  await list.goto(`${relay.address}/experiments`);
  await list.getByRole("link", { name: "running" }).waitFor();
  // Waits for a cursor: a stream without one would start with a read of all series, which lacks the replayed points.
  await eventually("the stream has a cursor", () => Promise.resolve(hour.bookmarks > 2));
  const charts = await own.newPage();
  await charts.goto(`${relay.address}/experiments/${experiment}?metrics=training+loss`);
  await shows(charts, trials * reportedBefore);
  await eventually("the browser follows points", () => Promise.resolve(hour.follows("points")));
  const start = performance.now();
  hour.replay(seconds / 2);
  await shows(charts, trials * (reportedBefore + hour.reports));
  const half = await heapMb(browser, [list, charts]);
  hour.replay(seconds / 2);
  await shows(charts, trials * (reportedBefore + hour.reports));
  const tookS = (performance.now() - start) / 1_000;
  const end = await heapMb(browser, [list, charts]);
  const note = `both tabs and their worker after a forced collection, at the end of ${hour.frames} frames of ${seconds} s replayed in ${tookS.toFixed(0)} s; baseline is at half of them`;
  return [costResult(bar, end, half, note)];
}

/** Waits until the chart shows its number of points. */
async function shows(page: Page, points: number): Promise<void> {
  const number = points.toLocaleString("en-US");
  await page.getByText(new RegExp(`(all|of) ${number} points`)).waitFor();
}

async function heapMb(browser: Browser, pages: readonly Page[]): Promise<number> {
  let bytes = await workerHeap(browser);
  for (const page of pages) {
    const debug = await page.context().newCDPSession(page);
    // The collection runs twice, because objects that the first one finalises may hold others.
    for (let turn = 0; turn < 2; turn += 1) await debug.send("HeapProfiler.collectGarbage");
    bytes += (await debug.send("Runtime.getHeapUsage")).usedSize;
    await debug.detach();
  }
  return bytes / 1e6;
}

/** Returns the heap of the SharedWorker, which has no page: its messages go through the browser's session. */
async function workerHeap(browser: Browser): Promise<number> {
  const debug = await browser.newBrowserCDPSession();
  const { targetInfos } = await debug.send("Target.getTargets");
  const worker = targetInfos.find(({ type }) => type === "shared_worker");
  if (worker === undefined) throw new Error("the browser has no SharedWorker for the pages");
  const attached = await debug.send("Target.attachToTarget", { targetId: worker.targetId });
  for (let turn = 0; turn < 2; turn += 1) {
    await sent(debug, attached.sessionId, "HeapProfiler.collectGarbage");
  }
  const usage = await sent(debug, attached.sessionId, "Runtime.getHeapUsage");
  await debug.detach();
  return (usage as { readonly usedSize: number }).usedSize;
}

let calls = 0;

async function sent(debug: CDPSession, sessionId: string, method: string): Promise<unknown> {
  calls += 1;
  const id = calls;
  const answered = new Promise<unknown>((resolve, reject) => {
    debug.on("Target.receivedMessageFromTarget", ({ message }) => {
      const answer = JSON.parse(message) as { id?: number; result?: unknown; error?: unknown };
      if (answer.id !== id) return;
      if (answer.error === undefined) resolve(answer.result);
      else reject(new Error(`${method} failed: ${JSON.stringify(answer.error)}`));
    });
  });
  await debug.send("Target.sendMessageToTarget", {
    sessionId,
    message: JSON.stringify({ id, method }),
  });
  return answered;
}
