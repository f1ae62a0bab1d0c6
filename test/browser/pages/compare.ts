/** The comparison of trials of several experiments: from the list to a registered version, and links to it. */
import { expect } from "vitest";
import { findChromium } from "../support/chromium.ts";
import type { Stage } from "../support/cluster-stage.ts";
import { test as base } from "../support/stage.ts";

const script = `
import trainyard

with trainyard.init() as ctx:
    lr = ctx.info.hparams["lr"]
    for step in range(1, 6):
        ctx.train.report_training_metrics(step, {"loss": lr + 1 / step, "batches": step})
        ctx.train.report_validation_metrics(step, {"loss": lr + 1 / step, "epochs": step})
    with ctx.checkpoint.store_path({"steps_completed": 5}) as (path, _):
        (path / "weights.txt").write_text(str(lr))
`;

const configOf = (name: string, rates: string) =>
  [
    `name: ${name}`,
    "labels: [weighed]",
    "entrypoint: python3 train.py",
    `hyperparameters: { lr: { type: categorical, vals: ${rates} }, width: 8 }`,
    "searcher: { name: grid, metric: loss, smaller_is_better: true }",
  ].join("\n");

async function trained({ world }: Stage, name: string, rates: string, more = ""): Promise<string> {
  world.write(`${name}/train.py`, script + more);
  const experiment = await world.submit(configOf(name, rates), name);
  await world.end(experiment);
  return experiment;
}

/** Three ended experiments of five trials in all, the last with other code. */
const test = base.extend("three", { scope: "file" }, async ({ shared }) => {
  const none: readonly [string, string, string] = ["", "", ""];
  if (findChromium().program === null) return none;
  return await Promise.all([
    trained(shared, "weighed-one", "[0.5, 0.3]"),
    trained(shared, "weighed-two", "[0.5, 0.1]"),
    trained(shared, "weighed-three", "[0.2]", "# other code\n"),
  ]);
});

const namesIn = (three: readonly string[], which: string): string =>
  three.map((id) => `${id}.${which}`).join("~");

test("experiments of the list are compared by keyboard, and the winner is registered", async ({
  skip,
  stage,
  three,
}) => {
  const page = await stage.page(skip, "/experiments?filter=weighed");
  await page.getByText("3 experiments").waitFor();
  await page.getByRole("grid", { name: "Experiments" }).focus();
  for (const selected of ["1 experiment", "2 experiments", "3 experiments"]) {
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText(`${selected} selected`).waitFor();
  }
  await page.getByRole("button", { name: "Compare" }).press("Enter");
  await page.getByRole("menuitem", { name: "The best trial of each" }).press("Enter");
  await page.getByText("3 trials of 3 experiments").waitFor();
  const legend = page.getByRole("list", { name: "Legend of all charts" });
  expect(await legend.getByRole("listitem").count()).toBe(3);
  await page
    .getByText(/^showing all 15 points$/)
    .nth(1)
    .waitFor();
  const charts = page.getByRole("region", { name: /^(training|validation) / });
  expect(await charts.count()).toBe(2);
  const winner = new RegExp(`^${three[1]}\\.\\d`);
  await legend.getByRole("button", { name: winner }).press("Enter");
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  await inspector.getByText("0.3 (lower is better)").waitFor();
  await inspector.getByRole("button", { name: "Register as model version" }).press("Enter");
  await page.getByLabel("Model").fill("weighed");
  const dialog = page.getByRole("dialog");
  await expect.poll(() => dialog.getByLabel(/^Checkpoint of trial/).innerText()).toMatch(/step 5/);
  await stage.looks(page, "compare-register");
  await dialog.getByRole("button", { name: "Register" }).press("Enter");
  await page.getByText("Registered version 1 of weighed.").waitFor();
  await inspector.getByRole("button", { name: "Remove from the comparison" }).press("Enter");
  await page.getByText("2 trials of 2 experiments").waitFor();
});

test("a link to a comparison shows another browser the same", async ({ skip, stage, three }) => {
  const page = await stage.page(skip, "/compare");
  await page.getByText("Nothing is compared yet.").waitFor();
  await stage.looks(page, "compare-empty");
  const field = page.getByRole("textbox", { name: "Add experiments by filter or id" });
  await page.getByLabel("Trials of each experiment").selectOption("all trials");
  await field.fill("label = weighed");
  await page.keyboard.press("Enter");
  await page.getByText("5 trials of 3 experiments").waitFor();
  await stage.looks(page, "compare-curves");
  await page.getByLabel("Group by").selectOption("experiment");
  const legend = page.getByRole("list", { name: "Legend of all charts" });
  const groups = ["one", "two"].map((name) => `weighed-${name} (2 trials)`);
  for (const name of [...groups, "weighed-three (1 trial)"]) await legend.getByText(name).waitFor();
  const captions = page.locator("figcaption").filter({ hasText: /^showing 1\d of 25 points/ });
  await captions.nth(1).waitFor();
  await stage.looks(page, "compare-groups");
  await page.getByRole("button", { name: /^Metrics/ }).click();
  await page.getByRole("menuitemcheckbox", { name: "validation loss" }).click();
  await page.getByRole("button", { name: "Metrics: 1 of 2" }).waitFor();
  const other = await stage.page(skip, new URL(page.url()).pathname + new URL(page.url()).search);
  await other.getByText("5 trials of 3 experiments").waitFor();
  await other.getByRole("button", { name: "Metrics: 1 of 2" }).waitFor();
  const texts = (one: typeof page) =>
    one.getByRole("list", { name: "Legend of all charts" }).innerText();
  await expect.poll(() => texts(other)).toBe(await texts(page));
  await other.setViewportSize({ width: 360, height: 740 });
  await stage.looks(other, "compare-narrow");
  expect(three).toHaveLength(3);
});

test("values that differ are a table in order of any of them, and code is compared with a base", async ({
  skip,
  stage,
  three,
}) => {
  const page = await stage.page(skip, `/compare?of=${namesIn(three, "all")}&tab=values`);
  const table = page.getByRole("region", { name: "Values of the trials" });
  const row = (name: string) => table.getByRole("row").filter({ hasText: name });
  const cells = () => row("lr").getByRole("cell").allInnerTexts();
  await expect.poll(async () => (await cells()).length).toBe(5);
  expect(await row("width").count()).toBe(0);
  await row("lr").getByRole("button").press("Enter");
  await expect.poll(cells).toEqual(["0.1", "0.2", "0.3", "0.5", "0.5"]);
  await stage.looks(page, "compare-values");
  await page.getByLabel("All rows").check();
  await row("width").waitFor();
  await page.getByRole("button", { name: "Trials as rows" }).click();
  await table.getByRole("rowheader", { name: `${three[2]}.1` }).waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as CSV" }).click();
  expect((await download).suggestedFilename()).toBe("comparison.csv");
  await page.getByRole("tab", { name: "Code & packages" }).click();
  await page.getByLabel("Beside").selectOption(`${three[2]}`);
  await page.getByText("+# other code").waitFor();
  await stage.looks(page, "compare-code");
});

test("a wrong link says what is wrong with it and what to do", async ({ skip, stage, three }) => {
  const [first] = three;
  const page = await stage.page(skip, "/");
  stage.guardOf(page).expect(/400/);
  const open = (search: string) => page.goto(`${stage.world.api}/compare?of=${search}`);
  await open(`${first}.1-101`);
  await page.getByRole("alert").getByText(/100/).waitFor();
  await page.getByRole("button", { name: `Leave out ${first}.1-101` }).click();
  await page.getByText("Nothing is compared yet.").waitFor();
  await open(`${first}.all&metrics=validation+nothing`);
  await page.getByText("No compared trial has reported validation nothing").waitFor();
  await page.getByRole("button", { name: "show all" }).click();
  await page.getByRole("region", { name: "validation loss" }).waitFor();
  await open(`${first}.1.99`);
  await page.getByText("1 trial of 1 experiment").waitFor();
  await page
    .getByText(/12\.99|\.99/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Leave it out of the link" }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get("of")).toBe(`${first}.1~`);
});
