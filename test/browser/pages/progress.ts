/** Progress as people see it: percents, the time left, and a bar in the colour of the state. */
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { findChromium } from "../support/chromium.ts";
import type { Stage } from "../support/cluster-stage.ts";
import { test as base } from "../support/stage.ts";
import { expectStill } from "../support/still.ts";

/** The script reports a share, and then fails or trains until its folder contains the file `enough`. */
const script = `
import os, time, trainyard
with trainyard.init() as ctx:
    share, enough = ctx.info.hparams["share"], ctx.info.hparams["enough"]
    time.sleep(2)  # The time left follows from the time in which the share was trained.
    ctx.train.report_progress(share)
    ctx.train.report_validation_metrics(1, {"loss": 1.0})
    if share > 0.3:
        raise RuntimeError("out of memory")
    while not os.path.exists(enough):
        time.sleep(0.05)
`;

const submit = ({ world }: Stage, name: string, share: number): Promise<string> =>
  world.submit(
    `name: ${name}
entrypoint: python3 train.py
hyperparameters: { share: ${share}, enough: ${join(world.folder, "enough")} }
searcher: { name: single, metric: loss, smaller_is_better: true, max_length: { batches: 9 } }
max_restarts: 0
`,
    "progress-code",
  );

/** An experiment that has begun, and one that failed at 40 %. */
const test = base.extend("progressing", { scope: "file" }, async ({ shared }) => {
  if (findChromium().program === null) return { runs: "", fails: "" };
  const { world } = shared;
  world.write("progress-code/train.py", script);
  const [runs, fails] = await Promise.all([
    submit(shared, "advances", 0.04),
    submit(shared, "breaks", 0.4),
  ]);
  await world.untilTrials(fails, ([trial]) => trial?.state === "ERROR");
  await eventually("the experiment that runs has progress", async () => {
    const { progress } = await world.client.call("getExperiment", { experiment: runs });
    return progress > 0;
  });
  return { runs, fails };
});

/** The colour of a bar, and the one that the theme has for failures. */
const colours = (bar: Locator): Promise<readonly string[]> =>
  bar.evaluate((element) => {
    const theme = getComputedStyle(document.documentElement);
    return [getComputedStyle(element).getPropertyValue("--bar"), theme.getPropertyValue("--red")];
  });

test("a running experiment has its percent and the time left, and a failed one's bar is red where it ended", async ({
  skip,
  stage,
  progressing: { runs, fails },
}) => {
  const page = await stage.page(skip, "/");
  const running = page
    .getByRole("region", { name: "Running" })
    .getByRole("row", { name: "advances" });
  await running.getByText("4 %").waitFor();
  await running.getByText(/about \d+[smh] left/).waitFor();
  await running.hover();
  await expectStill(running, async () => {
    await submit(stage, "follows", 0.4);
    const held = page.getByRole("region", { name: "Failed" }).getByRole("button");
    await held.filter({ hasText: "1 new, show" }).waitFor();
  });
  await stage.looks(page, "home-held");
  // A failure is in the list with its reason, and in no other.
  const ended = page.getByRole("region", { name: "Ended last" });
  await ended.waitFor();
  expect(await ended.getByRole("row", { name: "breaks" }).count()).toBe(0);
  await page.goto(`${stage.world.api}/experiments/${runs}`);
  await page.getByText(/^about \d+[smh]$/).waitFor();
  await page.goto(`${stage.world.api}/experiments?filter=breaks`);
  const failed = page.getByRole("row", { name: "breaks" });
  await failed.getByText("40 %").waitFor();
  const bar = failed.getByRole("progressbar", { name: "Progress" });
  expect(await bar.getAttribute("value")).toBe("0.4");
  await stage.looks(page, "experiments-failed-bar");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const [shown, red] = await colours(bar);
    expect(shown).toBe(red);
  }
  await page.goto(`${stage.world.api}/experiments/${fails}`);
  await page.getByText("40 %").first().waitFor();
  await stage.world.client.call("killExperiment", { experiment: runs });
});

test("a completed experiment without its metric has its warning in the list, and no best value on its page", async ({
  skip,
  stage,
}) => {
  const { world } = stage;
  const config = `name: silent-one
entrypoint: "true"
hyperparameters: { lr: 0.1 }
searcher: { name: single, metric: loss }
`;
  const request = { config, context: new Uint8Array() };
  const { experiment } = await world.client.call("createExperiment", request);
  const submitted = experiment?.id ?? "";
  await world.untilTrials(submitted, ([trial]) => trial?.state === "COMPLETED");
  const page = await stage.page(skip, "/experiments?filter=silent");
  const row = page.getByRole("row", { name: "silent-one" });
  const sign = row.getByRole("img", { name: /^Warning: 1 trial completed without/ });
  const isWhole = (): Promise<boolean> =>
    sign.evaluate((element) => {
      const cell = element.closest("[role=gridcell] > *");
      const end = element.getBoundingClientRect().right;
      return cell !== null && end <= cell.getBoundingClientRect().right;
    });
  for (const width of [1_440, 1_280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await expect.poll(isWhole).toBe(true);
  }
  await page.setViewportSize({ width: 1_440, height: 900 });
  await stage.looks(page, "experiments-warning");
  await page.goto(`${world.api}/experiments/${submitted}`);
  const best = page.getByRole("term").filter({ hasText: "best loss" }).locator("+ dd");
  expect(await best.innerText()).toBe("none");
  await page.goto(`${world.api}/trials/${submitted}.1`);
  await page.getByText("The trial reported no metric.").waitFor();
});
