/**
 * Tests of a trial's page and the logs: a failed trial's last line, search, links, following, and the trial's reports.
 */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { findChromium } from "../support/chromium.ts";
import { test as base } from "../support/stage.ts";

/**
 * The script fails at step 3 if the rate is low; otherwise it writes lines until its folder contains the file `stop`.
 */
const script = `
import os, time, trainyard
with trainyard.init() as ctx:
    print("\\x1b[31mred words\\x1b[0m of the start")
    for line in range(1500):
        print(f"earlier line {line}")
    for step in (1, 2, 3):
        ctx.train.report_training_metrics(step, {"loss": 1 / step})
        matrix = {"labels": ["cat", "dog"], "matrix": [[8, 1], [2, 9]]}
        place = {"batches": 400 * step, "epochs": step}
        ctx.train.report_validation_metrics(step, {"loss": 1 / step, "confusion": matrix, "note": "as hoped", **place})
    with ctx.checkpoint.store_path({"steps_completed": 3}) as (path, _):
        (path / "weights.bin").write_bytes(b"0" * 2048)
    if ctx.info.hparams["lr"] < 0.2:
        raise RuntimeError("the gradient is not finite")
    ctx.profiler.on()
    number = 0
    while not os.path.exists(ctx.info.hparams["stop"]):
        number += 1
        print(f"live line {number}", flush=True)
        time.sleep(0.1)
`;

function configOf(name: string, lr: number, stop: string): string {
  return [
    `name: ${name}`,
    "entrypoint: python3 train.py",
    `hyperparameters: { lr: ${lr}, stop: ${stop} }`,
    "searcher: { name: single, metric: loss, smaller_is_better: true, max_length: { batches: 3 } }",
    "max_restarts: 0",
  ].join("\n");
}

/** A failed trial, and one that runs until the last test kills it. */
const test = base.extend("trials", { scope: "file" }, async ({ shared }) => {
  if (findChromium().program === null) return { failed: "", running: "" };
  const { world } = shared;
  world.write("trial-code/train.py", script);
  const submit = (name: string, lr: number): Promise<string> =>
    world.submit(configOf(name, lr, join(world.folder, "stop")), "trial-code");
  const [first, second] = await Promise.all([submit("fails", 0.1), submit("runs", 0.5)]);
  const running = `${second}.1`;
  await Promise.all([
    world.untilTrials(first, ([trial]) => trial?.state === "ERROR"),
    world.untilTrials(second, ([trial]) => trial?.latestCheckpoint !== ""),
  ]);
  await eventually("the trial that runs has written a line", async () =>
    (await world.logs(running)).includes("live line 1"),
  );
  return { failed: `${first}.1`, running };
});

const lines = (page: Page) => page.getByRole("region", { name: /^Lines of/ });

test("a failed trial says why, and its last line is a click away in the log", async ({
  skip,
  stage,
  trials: { failed },
}) => {
  const page = await stage.page(skip, `/trials/${failed}`);
  await page.getByText("error", { exact: true }).waitFor();
  await page.getByRole("img").first().waitFor({ state: "attached" });
  await page.getByText("batch 1,200 · epoch 3").waitFor();
  await stage.looks(page, "trial-failed");
  await page.setViewportSize({ width: 360, height: 740 });
  await stage.looks(page, "trial-failed-phone");
  await page.setViewportSize({ width: 1_280, height: 800 });
  await page
    .getByRole("region", { name: "Why it failed" })
    .getByRole("link", { name: /RuntimeError: the gradient is not finite/ })
    .click();
  const chosen = lines(page).locator("[data-chosen=true]");
  await chosen.waitFor();
  expect(await chosen.innerText()).toContain("RuntimeError: the gradient is not finite");
  expect(page.url()).toMatch(/tab=logs&line=\d+$/);
  await stage.looks(page, "trial-log-line");
});

test("the traceback of a failed run is two clicks from the list of experiments", async ({
  skip,
  stage,
  trials: { failed },
}) => {
  const page = await stage.page(skip, "/experiments");
  await page.getByRole("grid").getByRole("link", { name: "fails" }).click();
  const why = page.getByRole("region", { name: "Why it failed" });
  await why.getByText("Traceback (most recent call last)").waitFor();
  await why.getByText("RuntimeError: the gradient is not finite").last().waitFor();
  await page.getByRole("link", { name: "Failed trial 1" }).waitFor();
  await stage.looks(page, "experiment-failed");
  await why.getByRole("link", { name: "Logs of run 1 at this line" }).click();
  const chosen = lines(page).locator("[data-chosen=true]");
  await chosen.waitFor();
  expect(await chosen.innerText()).toContain("RuntimeError: the gradient is not finite");
  expect(new URL(page.url()).pathname).toBe(`/trials/${failed}`);
});

test("from Home to the last line of a failed trial is two clicks", async ({
  skip,
  stage,
  trials: { failed },
}) => {
  const page = await stage.page(skip, "/");
  const row = page.getByRole("region", { name: "Failed" }).getByRole("row", { name: "fails" });
  const why = page.getByRole("region", { name: "Why it failed" });
  await row.getByRole("link", { name: "fails" }).click();
  await why.getByRole("link", { name: /RuntimeError: the gradient is not finite/ }).click();
  const chosen = lines(page).locator("[data-chosen=true]");
  expect(await chosen.innerText()).toContain("RuntimeError: the gradient is not finite");
  await page.goto(stage.world.api);
  await row.getByRole("link", { name: `trial ${failed}` }).click();
  await why.waitFor();
});

test("a log is searched on the server and marked, and a line is shown in its context", async ({
  skip,
  stage,
  trials: { failed },
}) => {
  const page = await stage.page(skip, `/trials/${failed}?tab=logs`);
  await lines(page).getByText("RuntimeError").first().waitFor();
  await page.getByRole("combobox", { name: "How it is compared" }).selectOption("regex");
  await page.getByRole("searchbox").fill("line 7[0-9]$");
  await page.getByRole("searchbox").press("Enter");
  await lines(page).locator("mark").first().waitFor();
  const found = await lines(page).locator("[data-index]").allInnerTexts();
  expect(found).toHaveLength(10);
  expect(found.every((text) => /earlier line 7\d/.test(text))).toBe(true);
  await lines(page).locator("[data-index] a").nth(4).click();
  await page.getByRole("button", { name: "Show in context" }).click();
  await lines(page).getByText("earlier line 80", { exact: true }).waitFor();
  expect(await lines(page).locator("[data-chosen=true]").innerText()).toContain("earlier line 74");
});

test("a regular expression that is none is refused in words", async ({
  skip,
  stage,
  trials: { failed },
}) => {
  const page = await stage.page(skip, `/trials/${failed}?tab=logs&by=regex&q=%28`);
  stage.guardOf(page).expect(/400/);
  const said = page.getByRole("alert").getByText(/is not a valid RE2 expression/);
  await said.first().waitFor();
  expect(await said.first().innerText()).toContain("missing");
});

test("the start of a log is read from its end, with the colours of its terminal", async ({
  skip,
  stage,
  trials: { failed },
}) => {
  const page = await stage.page(skip, `/trials/${failed}?tab=logs`);
  await lines(page).getByText("RuntimeError").first().waitFor();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  const words = lines(page).getByText("red words", { exact: true });
  await words.waitFor();
  const colour = await words.evaluate((element) => getComputedStyle(element).color);
  const text = await lines(page).evaluate((element) => getComputedStyle(element).color);
  expect(colour).not.toBe(text);
  await lines(page).press("End");
  await lines(page).getByText("RuntimeError").first().waitFor();
});

test("a live log follows its end until it is scrolled up, and then counts what is new", async ({
  skip,
  stage,
  trials: { running },
}) => {
  const page = await stage.page(skip, `/trials/${running}?tab=logs`);
  const last = async (): Promise<number> => {
    const texts = await lines(page).locator("[data-index]").allInnerTexts();
    return Number(/live line (\d+)$/.exec(texts.at(-1) ?? "")?.[1] ?? 0);
  };
  await expect.poll(last).toBeGreaterThan(0);
  const first = await last();
  await expect.poll(last).toBeGreaterThan(first);
  await lines(page).hover();
  await page.mouse.wheel(0, -2_000);
  const follow = page.getByRole("button", { name: /new lines, follow$/ });
  await follow.waitFor();
  await stage.looks(page, "trial-log-live");
  await follow.click();
  await page.getByText("Following", { exact: true }).waitFor();
});

test("a trial's reports are drawn, and its runs, checkpoints and profile are shown", async ({
  skip,
  stage,
  trials: { failed },
}) => {
  const page = await stage.page(skip, `/trials/${failed}?tab=validations`);
  const matrix = page.getByRole("table", { name: "confusion" });
  await matrix.getByRole("columnheader", { name: "dog" }).waitFor();
  expect(await matrix.getByRole("cell", { name: "9" }).count()).toBe(1);
  await page.getByText("as hoped").waitFor();
  await stage.looks(page, "trial-validations");
  await page.getByRole("tab", { name: /^Runs/ }).click();
  await page.getByRole("region", { name: "Run 1" }).getByText("failed", { exact: true }).waitFor();
  await stage.looks(page, "trial-runs");
  await page.getByRole("tab", { name: "Checkpoints" }).click();
  await page.getByRole("row").nth(1).click();
  await page.getByRole("rowheader", { name: "weights.bin" }).waitFor();
  await stage.looks(page, "trial-checkpoints");
  await page.getByRole("tab", { name: "Profile" }).click();
  await page.getByText("The trial was not profiled.").waitFor();
});

test("a curve of the profile is drawn as a chart with its unit, and TensorBoard's files are a click away", async ({
  skip,
  stage,
  trials: { running },
}) => {
  const page = await stage.page(skip, `/trials/${running}`);
  const files = page.getByRole("link", { name: "Download the files" });
  expect(await files.getAttribute("href")).toBe(`/api/v1/trials/${running}/tensorboard`);
  await page.getByText(`tensorboard --logdir "$(yard trial tensorboard ${running})"`).waitFor();
  await eventually("the profile has a report", async () => {
    const { items } = await stage.world.client.call("listTrialSystemMetrics", { trial: running });
    return items.length > 0;
  });
  await page.goto(`${stage.world.api}/trials/${running}?tab=profile`);
  await page.getByRole("button", { name: "Chart of memory used" }).click();
  await page.getByRole("heading", { name: /^memory used, [KMGT]iB$/ }).waitFor();
  await page.getByText(/^\d+ reports? of \d+ samples: mean, least and greatest$/).waitFor();
  await stage.looks(page, "trial-profile");
  await page.getByRole("button", { name: "Chart of memory used" }).click();
  await page.getByRole("heading", { name: /^memory used/ }).waitFor({ state: "detached" });
});

test("the logs of an experiment name the trial of each line", async ({
  skip,
  stage,
  trials: { failed },
}) => {
  const [experiment = ""] = failed.split(".");
  const page = await stage.page(skip, `/experiments/${experiment}?tab=logs&level=error`);
  const line = lines(page).locator("[data-index]").filter({ hasText: "RuntimeError" });
  expect(await line.innerText()).toContain(`trial ${failed.split(".")[1]}`);
  await stage.looks(page, "experiment-logs");
});

test("a trial that runs is killed after a question, and can be restarted then", async ({
  skip,
  stage,
  trials: { running },
}) => {
  const page = await stage.page(skip, `/trials/${running}`);
  await page.getByRole("button", { name: "Kill" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Reason" }).fill("seen enough");
  await dialog.getByRole("button", { name: "Kill" }).click();
  await page.getByRole("button", { name: "Restart" }).waitFor();
  await page.getByText("canceled", { exact: true }).waitFor();
  const { reason } = await stage.world.client.call("getTrial", { trial: running });
  expect(reason).toContain("seen enough");
});
