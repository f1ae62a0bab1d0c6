/** The picture of a population: members over their own time, with their hyperparameters and a legend. */
import { expect } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { findChromium } from "../support/chromium.ts";
import { test as base } from "../support/stage.ts";

const config = `
name: population-page
entrypoint: python3 train.py
hyperparameters:
  lr: { type: double, minval: 0, maxval: 1 }
  optimizer: { momentum: { type: double, minval: 0, maxval: 0.95 }, name: sgd }
searcher: { name: pbt, metric: loss, population_size: 4, max_time: 40, interval: 10, max_trials: 8 }
reproducibility: { experiment_seed: 5 }
environment: { environment_variables: ["STEPS=40", "STEP_SECONDS=0.03"] }
`;

const test = base.extend("population", { scope: "file" }, async ({ shared: { world } }) => {
  if (findChromium().program === null) return "";
  const experiment = await world.submit(config, world.code("population"));
  await eventually("the population has ended", async () => {
    const { endedAtMs } = await world.client.call("getExperiment", { experiment });
    return endedAtMs !== undefined;
  });
  return experiment;
});

test("a population is drawn over each member's own time, with a legend, and hyperparameters by hover", async ({
  skip,
  stage,
  population: experiment,
}) => {
  const page = await stage.page(skip, "/");
  await page.goto(`${stage.world.api}/experiments/${experiment}?tab=search`);
  await page.getByText("From left to right the steps of each trial").waitFor();
  const canvas = page.getByRole("img", { name: /trials of pbt/ });
  await canvas.waitFor();
  const legend = page.getByRole("list", { name: "Legend" });
  expect(await legend.textContent()).toContain("starts from a checkpoint of another trial");
  const { items } = await stage.world.client.call("listTrials", { experiment, pageSize: 100 });
  const copy = items.find(({ sourceTrial }) => sourceTrial !== "");
  if (copy === undefined) throw new Error("a member was copied");
  const lane = { first: 58 + 11, slot: 22 };
  const y = lane.first + lane.slot * (copy.number - 1);
  const { width = 0 } = (await canvas.boundingBox()) ?? {};
  const start = 56 + ((width - 56 - 72) * (copy.sourceStep ?? 0)) / 40;
  // The lane of a copy begins at its checkpoint: there is nothing far to its left.
  await canvas.hover({ position: { x: start - 50, y } });
  await expect.poll(() => page.getByText("optimizer.momentum", { exact: true }).count()).toBe(0);
  await canvas.hover({ position: { x: start + 4, y } });
  await page.getByText(`from trial ${copy.sourceTrial.split(".")[1]} at`).waitFor();
  await page.getByText("optimizer.momentum", { exact: true }).waitFor();
  await stage.looks(page, "experiment-population");
  await canvas.click({ position: { x: start + 4, y } });
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  await inspector.getByText("optimizer.momentum", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Table" }).click();
  await page.getByRole("columnheader", { name: "Hyperparameters" }).waitFor();
  await page.getByRole("columnheader", { name: "Starts from" }).waitFor();
});

test("the page of a copied member says in one sentence from which trial it started and what it changes", async ({
  skip,
  stage,
  population: experiment,
}) => {
  const page = await stage.page(skip, "/");
  const { items } = await stage.world.client.call("listTrials", { experiment, pageSize: 100 });
  const copy = items.find(({ sourceTrial }) => sourceTrial !== "")?.id ?? "";
  await page.goto(`${stage.world.api}/trials/${copy}`);
  const decided = page.getByRole("list").filter({ hasText: "started from trial" });
  await decided.getByText(/^started from trial \d: .* → /).waitFor();
  expect(await decided.getByText("changes", { exact: true }).count()).toBe(0);
  await stage.looks(page, "trial-copy");
});
