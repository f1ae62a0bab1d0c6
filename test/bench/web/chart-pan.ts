/**
 * The scripting time of panning and zooming the chart, compared with a bare uPlot that draws the same buckets on the
 * same page.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkout } from "@trainyard/local-cluster";
import type { Browser, Page } from "playwright-core";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";
import { type Browsers, mainThread } from "./browser.ts";

/** A chart of a few trials with bands under the pointer, and one of a comparison with many grey lines. */
const charts = [
  {
    ...{ id: "chart_pan_vs_uplot", goal: 0.8, trials: 8, buckets: 1_000, share: 1, pointed: true },
    with: " with bands, a tooltip and a legend",
  },
  {
    ...{ id: "compare_pan_vs_uplot", goal: 0.8, trials: 100, buckets: 400, share: 0.25 },
    ...{ pointed: false, with: "" },
  },
] as const;
const address = "http://bench.localhost";

export async function chartPan(
  context: BenchContext,
  browsers: Browsers,
): Promise<readonly BenchResult[]> {
  const wanted = charts.filter(({ id }) => context.wants(id));
  if (wanted.length === 0) return [];
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "trainyard-bench-chart-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  await built(folder);
  const browser = await browsers.open(stack);
  const results: BenchResult[] = [];
  for (const chart of wanted) results.push(await panOf(context, browser, folder, chart));
  return results;
}

async function panOf(
  context: BenchContext,
  browser: Browser,
  folder: string,
  { id, goal, trials, buckets, share, pointed, with: lines }: (typeof charts)[number],
): Promise<BenchResult> {
  const steps = Math.ceil({ tiny: 4, short: 400, full: 2_000 }[context.size] * share);
  const rounds = { tiny: 1, short: 7, full: 15 }[context.size];
  const page = await browser.newPage();
  await page.route(`${address}/**`, (route) =>
    route.fulfill({ path: join(folder, new URL(route.request().url()).pathname) }),
  );
  await page.goto(`${address}/bench/chart.html?trials=${trials}&buckets=${buckets}`);
  if (pointed) {
    // The pointer is on our chart, so each step also draws a tooltip, and the values of its step in the legend.
    await page.locator("#ours .u-over").hover();
    await page.locator("[data-tooltip]").waitFor();
  }
  const used = await mainThread(page);
  const contender = (name: string) => ({
    name,
    round: async () => {
      const before = await used();
      await panned(page, name, steps);
      return ((await used()).scriptMs - before.scriptMs) / steps;
    },
  });
  const [ours, bare] = await interleave([contender("ours"), contender("bare")], rounds, context);
  await page.close();
  const note = `processor time of scripts a step, ${steps} steps of pan and zoom over ${trials} lines of ${buckets} buckets${lines}; beside uPlot with the same lines`;
  return costResult({ id, unit: "ms", floor: 0.5, goal }, ours, bare, note);
}

async function built(outDir: string): Promise<void> {
  const cwd = join(checkout, "services", "web");
  const vite = join(cwd, "node_modules", "vite", "bin", "vite.js");
  const parameters = [vite, "build", "--mode", "bench", "--outDir", outDir, "--logLevel", "warn"];
  await promisify(execFile)(process.execPath, parameters, { cwd });
}

/** Moves a window of two fifths to the right and back, and narrows and widens it, one step per frame. */
async function panned(page: Page, name: string, steps: number): Promise<void> {
  // The steps run in frame callbacks, because scripts that continue after a promise are not counted as scripting.
  await page.evaluate(`new Promise((resolve) => {
    let step = 0;
    const frame = () => {
      if (step === ${steps}) return resolve();
      const place = Math.abs(((step / 100) % 2) - 1);
      const width = 100_000 * (0.4 + 0.2 * Math.sin(step / 20));
      const from = place * (100_000 - width);
      contenders["${name}"].show([from, from + width]);
      step += 1;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  })`);
}
