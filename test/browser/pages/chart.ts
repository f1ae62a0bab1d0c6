/** Tests of an experiment's charts: what the tooltip says, the legend, the choice of metrics, pictures and CSV. */
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { findChromium } from "../support/chromium.ts";
import { test as base } from "../support/stage.ts";

const script = `
import trainyard

with trainyard.init() as ctx:
    width = ctx.info.hparams["width"]
    for step in range(10, 100, 10):
        position = {"epochs": step / 10, "batches": step}
        ctx.train.report_training_metrics(step, {"loss": 1 / width + 1 / step, **position})
        losses = {"loss": (2 / width + 1 / step) / 1000, "accuracy": 1 - 1 / step}
        ctx.train.report_validation_metrics(step, {**losses, **position})
`;

function configOf(width: string, searcher: string): string {
  return [
    `name: ${searcher} of widths`,
    "entrypoint: python3 train.py",
    `hyperparameters: { width: ${width} }`,
    `searcher: { name: ${searcher}, metric: loss, smaller_is_better: true }`,
  ].join("\n");
}

/** A grid of three trials, and an experiment of one trial. */
const test = base.extend("widths", { scope: "file" }, async ({ shared: { world } }) => {
  if (findChromium().program === null) return { grid: "", single: "" };
  world.write("chart-code/train.py", script);
  const submit = (width: string, searcher: string): Promise<string> =>
    world.submit(configOf(width, searcher), "chart-code");
  const [grid, single] = await Promise.all([
    submit("{ type: categorical, vals: [4, 8, 16] }", "grid"),
    submit("4", "single"),
  ]);
  const ended = ({ state }: { readonly state: string }): boolean => state === "COMPLETED";
  await world.untilTrials(grid, (trials) => trials.length === 3 && trials.every(ended));
  await world.untilTrials(single, (trials) => trials.length === 1 && trials.every(ended));
  return { grid, single };
});

const charts = (page: Page): Locator =>
  page.getByRole("region", { name: "Curves" }).locator("figure");

test("the tooltip of a chart names a step that was reported, and lists the trials nearest first", async ({
  skip,
  stage,
  widths: { grid },
}) => {
  const page = await stage.page(skip, `/experiments/${grid}`);
  const chart = charts(page).nth(1);
  await chart.getByText("showing all 27 points").waitFor();
  const plot = chart.getByRole("img");
  const tooltip = page.locator("[data-tooltip]:visible");
  const { x = 0, y = 0, width = 0, height = 0 } = (await plot.boundingBox()) ?? {};
  // Places between the steps, and the last one near the right edge of the window.
  for (const share of [0.317, 0.55, 0.94]) {
    const [left, top] = [x + share * width, y + 0.75 * height];
    await page.mouse.move(left, top);
    const step = tooltip.getByText(/^step \d+$/);
    await step.waitFor();
    expect(Number((await step.innerText()).slice(5)) % 10).toBe(0);
    // The tooltip is placed by its new size in the frame in which it is laid out, before anybody sees it.
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))");
    const box = (await tooltip.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    expect(box.x + box.width).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
    const gap = Math.max(box.x - left, left - box.x - box.width);
    expect(gap).toBeGreaterThan(0);
    expect(gap).toBeLessThan(24);
  }
  const named = tooltip.getByText(/^trial \d$/);
  // The lowest curve is that of the greatest width.
  const hparams = async (trial: string): Promise<unknown> => {
    const { hyperparameters } = await stage.world.client.call("getTrial", {
      trial: `${grid}.${trial.slice(6)}`,
    });
    return hyperparameters?.["width"];
  };
  await page.mouse.move(x + 0.5 * width, y + 0.78 * height);
  await named.nth(2).waitFor();
  expect(await Promise.all((await named.allInnerTexts()).map(hparams))).toEqual([16, 8, 4]);
  await stage.looks(page, "chart-tooltip");
});

test("the legend has each trial's state and value, highlights on focus, and isolates on Enter", async ({
  skip,
  stage,
  widths: { grid },
}) => {
  const page = await stage.page(skip, `/experiments/${grid}`);
  const chart = charts(page).first();
  await chart.getByText("showing all 27 points").waitFor();
  const entry = chart.getByRole("list", { name: "Legend" }).getByRole("button").nth(1);
  expect(await entry.innerText()).toMatch(/^trial 2\s+completed\s+0\.\d+$/);
  // A long value leaves the name of its trial whole, also where there is little room.
  await page.setViewportSize({ width: 1_200, height: 800 });
  const name = entry.getByText("trial 2");
  await expect.poll(() => name.evaluate((text) => text.scrollWidth - text.clientWidth)).toBe(0);
  await entry.focus();
  expect(await entry.getAttribute("data-highlighted")).toBe("true");
  await page.keyboard.press("Enter");
  await chart.getByText("showing all 9 points").waitFor();
  await stage.looks(page, "chart-isolated");
  // The charts of the page share it.
  await charts(page).nth(1).getByText("showing all 9 points").waitFor();
  await page.keyboard.press("Enter");
  await chart.getByText("showing all 27 points").waitFor();
});

test("several metrics are chosen from a list without positions, and remembered", async ({
  skip,
  stage,
  widths: { grid },
}) => {
  const page = await stage.page(skip, `/experiments/${grid}`);
  const titles = charts(page).getByRole("heading");
  await expect.poll(() => titles.allInnerTexts()).toEqual(["validation loss", "training loss"]);
  await page.getByRole("button", { name: "Metrics: 2 of 3" }).click();
  const list = page.getByRole("group", { name: "Metrics" });
  expect(await list.getByRole("checkbox").count()).toBe(3);
  await list.getByRole("checkbox", { name: "accuracy validation" }).check();
  const three = ["validation loss", "training loss", "validation accuracy"];
  await expect.poll(() => titles.allInnerTexts()).toEqual(three);
  await stage.looks(page, "chart-metrics");
  expect(new URL(page.url()).searchParams.get("metrics")).toBe(three.join("~"));
  await page.goto(`${stage.world.api}/experiments/${grid}`);
  await expect.poll(() => titles.allInnerTexts()).toEqual(three);
  await page.goto(`${stage.world.api}/experiments/${grid}?metrics=validation+accuracy`);
  await expect.poll(() => titles.allInnerTexts()).toEqual(["accuracy"]);
  const axes = page.getByRole("combobox", { name: "over" }).locator("option");
  const all = ["step", "time", "batches", "epochs", "loss"];
  await expect.poll(() => axes.allInnerTexts()).toEqual(all);
});

test("a chart is saved as a picture, and what it draws as CSV", async ({
  skip,
  stage,
  widths: { grid },
}) => {
  const page = await stage.page(skip, `/experiments/${grid}?zoom=25..45`);
  const chart = charts(page).first();
  await chart.getByText("showing all 6 points").waitFor();
  const saved = async (item: string): Promise<Buffer> => {
    await chart.getByRole("button", { name: "Save validation loss" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: item }).click(),
    ]);
    return readFileSync(await download.path());
  };
  const csv = (await saved("CSV of its data")).toString().trim().split("\r\n");
  expect(csv[0]).toBe("trial,step,mean,min,max,count");
  expect(csv.slice(1).map((line) => line.split(",").slice(0, 2).join(" "))).toEqual(
    [1, 2, 3].flatMap((trial) => [30, 40].map((step) => `${grid}.${trial} ${step}`)),
  );
  const png = await saved("Save as PNG");
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  // The width of the picture is that of the plot, and the height has space for title and legend.
  expect(png.readUInt32BE(20)).toBeGreaterThan(240);
});

test("an experiment without a search has neither a best value so far nor importance", async ({
  skip,
  stage,
  widths: { grid, single },
}) => {
  const page = await stage.page(skip, `/experiments/${grid}`);
  const best = page.getByRole("heading", { name: "Best so far" });
  const importance = page.getByRole("heading", { name: "Importance of hyperparameters" });
  await best.waitFor();
  await importance.waitFor();
  await page.goto(`${stage.world.api}/experiments/${single}`);
  await page.getByRole("link", { name: "Trial 1" }).waitFor();
  expect((await best.count()) + (await importance.count())).toBe(0);
});
