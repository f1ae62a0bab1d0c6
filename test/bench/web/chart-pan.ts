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
import type { Page } from "playwright-core";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";
import { type Browsers, mainThread } from "./browser.ts";

const bar = { id: "chart_pan_vs_uplot", unit: "ms", floor: 0.5, goal: 0.8 };
const address = "http://bench.localhost";

export async function chartPan(
  context: BenchContext,
  browsers: Browsers,
): Promise<readonly BenchResult[]> {
  if (!context.wants(bar.id)) return [];
  const steps = { tiny: 4, short: 400, full: 2_000 }[context.size];
  const rounds = { tiny: 1, short: 7, full: 15 }[context.size];
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "trainyard-bench-chart-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  await built(folder);
  const browser = await browsers.open(stack);
  const page = await browser.newPage();
  stack.defer(() => page.close());
  await page.route(`${address}/**`, (route) =>
    route.fulfill({ path: join(folder, new URL(route.request().url()).pathname) }),
  );
  await page.goto(`${address}/bench/chart.html`);
  // The pointer is on our chart, so each step also draws a tooltip, and the values of its step in the legend.
  await page.locator("#ours .u-over").hover();
  await page.locator("[data-tooltip]").waitFor();
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
  const note = `processor time of scripts a step, ${steps} steps of pan and zoom over 8 lines of 1,000 buckets with bands, a tooltip and a legend; beside uPlot with the same lines and bands`;
  return [costResult(bar, ours, bare, note)];
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
