/** The page of an experiment: curves that grow, trials, and the search replayed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { findChromium } from "../support/chromium.ts";
import type { Stage } from "../support/cluster-stage.ts";
import { test as base } from "../support/stage.ts";
import { expectStill } from "../support/still.ts";

const script = `
import math, os, time
import trainyard

with trainyard.init() as ctx:
    lr, gate = ctx.info.hparams["lr"], ctx.info.hparams["gate"]
    for step in range(1, 10):
        ctx.train.report_training_metrics(step, {"loss": math.nan if step == 5 else lr + 1 / step})
        ctx.train.report_validation_metrics(step, {"loss": lr + 1 / step})
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "step.txt").write_text(str(step))
        if ctx.preempt.should_preempt():
            break
        while gate and step == 4 and not os.path.exists(gate):
            time.sleep(0.05)
    while gate and not os.path.exists(gate + "-end"):
        time.sleep(0.05)
`;

const asha = `{ name: asha, metric: loss, smaller_is_better: true, max_trials: 9, max_time: 9, time_metric: batches, divisor: 3, max_concurrent_trials: 4 }`;

const anyShare = "{ type: double, minval: 0, maxval: 1 }";

function submit({ world }: Stage, searcher: string, gate = "", more = ""): Promise<string> {
  world.write("page-code/train.py", script);
  const config = [
    "name: page",
    "entrypoint: python3 train.py",
    `hyperparameters: { lr: ${anyShare}, decay: ${anyShare}, gate: "${gate}" }`,
    `searcher: ${searcher}`,
    more,
  ];
  return world.submit(config.join("\n"), "page-code");
}

/** An ended search that several tests use. */
const test = base.extend("search", { scope: "file" }, async ({ shared }) => {
  if (findChromium().program === null) return "";
  const experiment = await submit(shared, asha);
  await shared.world.end(experiment);
  return experiment;
});

test("a running experiment's curves grow, and its trials come, without a read of the series", async ({
  skip,
  stage,
}) => {
  const gate = join(stage.world.folder, "go");
  const page = await stage.page(skip, "/");
  const random = `{ name: random, metric: loss, smaller_is_better: true, max_trials: 1 }`;
  const experiment = await submit(stage, random, gate);
  await page.goto(`${stage.world.api}/experiments/${experiment}?metrics=training+loss`);
  await page.getByText("showing all 4 points").waitFor();
  const reads: string[] = [];
  page.on("request", (request) => reads.push(new URL(request.url()).pathname));
  writeFileSync(gate, "");
  await page.getByText("showing all 9 points").waitFor();
  // The one read allowed is that of a stream which opened late. The series are read again when the experiment ends.
  expect(reads.filter((path) => path.endsWith("metrics:series")).length).toBeLessThanOrEqual(1);
  writeFileSync(`${gate}-end`, "");
  await page.getByText("completed").first().waitFor();
  await stage.looks(page, "experiment-overview");
});

test("an experiment whose run waits is queued, with the reason", async ({ skip, stage }) => {
  const gate = join(stage.world.folder, "release");
  const one = `{ name: single, metric: loss, smaller_is_better: true }`;
  const every = "resources: { slots_per_trial: 4 }";
  const holder = await submit(stage, one, gate, every);
  await stage.world.untilTrials(holder, ([trial]) => trial?.runs.at(-1)?.state === "RUNNING");
  const waiting = await submit(stage, one, "", every);
  const page = await stage.page(skip, `/experiments/${waiting}`);
  await page.getByText("queued", { exact: true }).first().waitFor();
  await page.getByText(/It is queued: .*4 slots/).waitFor();
  await stage.looks(page, "experiment-queued");
  const listed = await stage.world.yard("experiment", "list");
  expect(listed.out).toMatch(new RegExp(`${waiting} +page +QUEUED`));
  expect(listed.out).toMatch(new RegExp(`${holder} +page +RUNNING`));
  expect((await stage.world.yard("trial", "list", waiting)).out).toContain("QUEUED");
  await page.goto(`${stage.world.api}/trials/${waiting}.1`);
  await page.getByText(/It is queued: .*4 slots/).waitFor();
  writeFileSync(gate, "");
  writeFileSync(`${gate}-end`, "");
  await page.getByText("completed", { exact: true }).waitFor();
});

test("trials are filtered, selected by keyboard, and their curves are a table too", async ({
  skip,
  stage,
  search: experiment,
}) => {
  const page = await stage.page(skip, "/");
  await page.goto(`${stage.world.api}/experiments/${experiment}?tab=trials&sort=number`);
  await page.getByText("9 trials").waitFor();
  await page.getByRole("region", { name: "Parallel coordinates" }).waitFor();
  await stage.looks(page, "experiment-trials");
  await page.getByRole("textbox", { name: "Filter" }).fill("number <= 3");
  await page.keyboard.press("Enter");
  await page.getByText("3 trials").waitFor();
  await page.getByRole("grid", { name: "Trials" }).focus();
  for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
  await page.getByText("3 trials, 2 selected").waitFor();
  expect(new URL(page.url()).searchParams.get("trials")).toContain("1,2");
  await page.getByRole("button", { name: "Table" }).click();
  await page.getByRole("columnheader", { name: "trial 2 validation" }).waitFor();
});

test("selecting trials, a wrong filter and choosing a checkpoint move no row", async ({
  skip,
  stage,
  search: experiment,
}) => {
  const page = await stage.page(skip, "/");
  stage.guardOf(page).expect(/400/);
  const address = `${stage.world.api}/experiments/${experiment}`;
  await page.goto(`${address}?tab=trials`);
  // All rows of the test are in view.
  await page.setViewportSize({ width: 1_280, height: 1_000 });
  const rows = page.getByRole("grid", { name: "Trials" }).getByRole("row");
  const box = (at: number) => rows.nth(at).getByRole("gridcell").first();
  await page.getByRole("region", { name: "Parallel coordinates" }).waitFor();
  const { x = 0, y = 0 } = (await box(5).boundingBox()) ?? {};
  await expectStill(rows.nth(5), async () => {
    await box(4).click();
    const curves = page.getByRole("region", { name: "Curves of the selected trials" });
    await curves.getByText(/^showing all/).waitFor();
  });
  await page.mouse.click(x + 16, y + 16);
  await page.getByText("9 trials, 2 selected").waitFor();
  expect(await rows.nth(5).getAttribute("aria-selected")).toBe("true");
  await stage.looks(page, "experiment-trials-selected");
  await expectStill(rows.nth(5), async () => {
    await page.getByRole("textbox", { name: "Filter" }).fill("nmber <= 3");
    await page.keyboard.press("Enter");
    await page.getByText(/Column 1: .*nmber/).waitFor();
  });
  await page.goto(`${address}?tab=checkpoints`);
  const checkpoints = page.getByRole("grid", { name: /^Checkpoints/ }).getByRole("row");
  await checkpoints.nth(3).waitFor();
  // The columns share the width that the inspector leaves; the first one keeps its own.
  const first = checkpoints.nth(3).getByRole("gridcell").first();
  await expectStill(first, async () => {
    await first.click();
    await page.getByRole("complementary", { name: "Inspector" }).waitFor();
  });
  await stage.looks(page, "experiment-checkpoint-chosen");
});

test("the pages of an experiment and a trial have their tabs in place while they load", async ({
  skip,
  stage,
  search: experiment,
}) => {
  const page = await stage.page(skip, "/tokens");
  let answer: (() => void) | undefined;
  await page.route(/\/api\/v1\/(experiments\/\d+|trials\/\d+\.\d+)$/, async (route) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    await route.continue();
  });
  for (const [path, tab] of [
    [`experiments/${experiment}`, "Notes"],
    [`trials/${experiment}.1`, "Validations"],
  ] as const) {
    await page.goto(`${stage.world.api}/${path}`);
    const loading = page.getByRole("status", { name: /^Loading (experiment|trial)/ });
    await loading.waitFor();
    await stage.looks(page, `loading-${path.split("/", 1)[0]}`);
    await expectStill(page.getByRole("tab", { name: tab }), async () => {
      answer?.();
      await loading.waitFor({ state: "detached" });
    });
  }
});

test("a clicked tab has no focus ring, and the configuration is copied", async ({
  skip,
  stage,
  search: experiment,
}) => {
  const page = await stage.page(skip, "/");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${stage.world.api}/experiments/${experiment}`);
  const tab = (name: string) => page.getByRole("tab", { name });
  const hasRing = (name: string) =>
    tab(name).evaluate((element) => getComputedStyle(element).outlineStyle !== "none");
  for (const name of ["Trials", "Search", "Notes", "Configuration"]) {
    await tab(name).click();
    await expect.poll(() => tab(name).getAttribute("aria-selected")).toBe("true");
    expect(await hasRing(name)).toBe(false);
  }
  await page.getByRole("button", { name: "Copy the configuration" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("searcher:");
  await stage.looks(page, "experiment-configuration");
  await tab("Code").click();
  expect(await hasRing("Code")).toBe(false);
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => hasRing("Logs")).toBe(true);
});

test("the name, the description and the labels are edited in the header, and a refused change stays", async ({
  skip,
  stage,
  search: experiment,
}) => {
  const page = await stage.page(skip, `/experiments/${experiment}`);
  const { client } = stage.world;
  const read = () => client.call("getExperiment", { experiment });
  await page.getByText("default / default").waitFor();
  await page.getByText("owner local").waitFor();
  const field = (name: string) => page.getByRole("textbox", { name: `${name} of experiment` });
  const button = (name: string) => page.getByRole("button", { name: `Edit the ${name} of` });
  await button("description").focus();
  await page.keyboard.press("Enter");
  await field("Description").fill("a first try");
  await stage.looks(page, "experiment-description-edited");
  await page.keyboard.press("Escape");
  await page.getByText("No description").waitFor();
  await page.keyboard.press("Enter");
  await field("Description").fill("a first try");
  await page.keyboard.press("Enter");
  await page.getByText("a first try", { exact: true }).waitFor();
  stage.guardOf(page).expect(/412/);
  await button("description").click();
  await field("Description").fill("mine");
  await client.call("updateExperiment", { experiment, description: "theirs" });
  await page.keyboard.press("Enter");
  await page
    .getByText(/Somebody changed it since/)
    .first()
    .waitFor();
  expect(await field("Description").inputValue()).toBe("mine");
  await page.keyboard.press("Enter");
  await page.getByText("mine", { exact: true }).waitFor();
  await button("labels").click();
  await field("Labels").fill("digits, slow");
  await page.keyboard.press("Enter");
  await page.getByText("slow", { exact: true }).waitFor();
  expect(await read()).toMatchObject({ description: "mine", labels: ["digits", "slow"] });
  stage.guardOf(page).expect(/400/);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await field("Name").fill("x".repeat(3_000));
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor({ state: "attached" });
  expect(await field("Name").inputValue()).toHaveLength(3_000);
  await stage.looks(page, "experiment-name-refused");
  await field("Name").fill("page");
  await page.keyboard.press("Enter");
  await field("Name").waitFor({ state: "detached" });
  await stage.looks(page, "experiment-header");
  await page.setViewportSize({ width: 360, height: 740 });
  await stage.looks(page, "experiment-header-phone");
});

test("a verb that cannot run says why: asha does not continue, and an ended experiment is not paused", async ({
  skip,
  stage,
  search: experiment,
}) => {
  const page = await stage.page(skip, `/experiments/${experiment}`);
  await page.getByRole("button", { name: "More" }).click();
  const item = (name: string) => page.getByRole("menuitem", { name: new RegExp(`^${name}`) });
  const why = "A search by asha does not continue: fork the experiment.";
  await item("Continue").getByText(why).waitFor();
  expect(await item("Continue").getAttribute("title")).toBe(why);
  expect(await item("Continue").getAttribute("aria-disabled")).toBe("true");
  await item("Pause").getByText("The experiment has ended.").waitFor();
  await item("Continue").focus();
  await page.keyboard.press("Enter");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await item("Copy link").click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(`${stage.world.api}/experiments/${experiment}`);
});

test("hyperparameters are drawn against the metric, and a click on a cell selects its trials", async ({
  skip,
  stage,
  search: experiment,
}) => {
  const page = await stage.page(skip, "/");
  await page.goto(`${stage.world.api}/experiments/${experiment}?tab=trials`);
  await page.getByRole("button", { name: "Scatter plots" }).click();
  await page.getByRole("img", { name: "loss over lr of 9 trials" }).waitFor();
  await stage.looks(page, "experiment-scatter");
  await page.getByRole("button", { name: "Heat map" }).click();
  await page.getByLabel("Across").selectOption("lr");
  const map = page.getByRole("img", { name: "Mean loss by lr and decay" });
  await map.waitFor();
  await stage.looks(page, "experiment-heat");
  const link = new URL(page.url());
  expect(link.searchParams.get("plot")).toBe("heat");
  expect(link.searchParams.get("across")).toBe("lr");
  const { width, height } = (await map.boundingBox()) ?? { width: 0, height: 0 };
  const shares = [0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95];
  for (const position of shares.flatMap((across) =>
    shares.map((down) => ({ x: across * width, y: down * height })),
  )) {
    await map.hover({ position });
    if ((await map.getAttribute("data-hit")) === "true") break;
  }
  await page.getByText(/mean loss [\d.]+ of \d trial/).waitFor();
  await page.mouse.down();
  await page.mouse.up();
  await page
    .getByRole("status")
    .getByText(/^9 trials, \d selected$/)
    .waitFor();
  await page.getByRole("region", { name: "Curves of the selected trials" }).waitFor();
});

test("a chart whose points are being read does not say that there are none", async ({
  skip,
  stage,
  search: experiment,
}) => {
  const page = await stage.page(skip, "/");
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
  await page.route(/metrics:series/, async (route) => {
    await answered;
    await route.continue();
  });
  await page.goto(`${stage.world.api}/experiments/${experiment}`);
  const caption = page.getByRole("region", { name: "Curves" }).locator("figcaption").first();
  await expect.poll(() => caption.innerText()).toBe("Loading …");
  answer(undefined);
  await expect.poll(() => caption.innerText()).toMatch(/^showing all \d+ points$/);
});

test("notes are drawn as Markdown, and nothing in them runs", async ({
  skip,
  stage,
  search: experiment,
}) => {
  const page = await stage.page(skip, "/");
  const notes =
    "# Plan\n\n<script>document.title = 'taken'</script>\n\n<img src=x onerror=alert(1)>\n\n[run](javascript:alert(1)), [trial 1](/trials/1.1)";
  await stage.world.client.call("updateExperiment", { experiment, notes });
  await page.goto(`${stage.world.api}/experiments/${experiment}?tab=notes`);
  const shown = page.getByRole("region", { name: "Notes" });
  await shown.getByRole("heading", { name: "Plan" }).waitFor();
  await shown.getByText("<script>document.title = 'taken'</script>").waitFor();
  expect(await shown.getByRole("link").allInnerTexts()).toEqual(["trial 1"]);
  expect(await shown.locator("script, img").count()).toBe(0);
  expect(await page.title()).not.toBe("taken");
  await stage.looks(page, "experiment-notes-drawn");
  await page.getByRole("button", { name: "Edit the notes" }).click();
  await page.getByRole("textbox", { name: "Notes" }).fill("- [x] done");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Preview the notes" }).click();
  await shown.getByText("☑ done").waitFor();
});

test("a search is replayed by keyboard, and says of each stop what yard search explain says", async ({
  skip,
  stage,
  search: experiment,
}) => {
  const page = await stage.page(skip, "/");
  await page.goto(`${stage.world.api}/experiments/${experiment}?tab=search`);
  const canvas = page.getByRole("img", { name: /trials of asha/ });
  await canvas.waitFor();
  const explained = await stage.world.yard("search", "explain", experiment);
  const stops = [...explained.out.matchAll(/trial \d+\.(\d+) stopped: (it ranks .*)$/gm)];
  expect(stops.length).toBeGreaterThanOrEqual(3);
  for (const [, trial = "", sentence = ""] of stops.slice(0, 3)) {
    await page.goto(`${stage.world.api}/experiments/${experiment}?tab=search&trial=${trial}`);
    await page.getByText(sentence, { exact: true }).waitFor();
  }
  await stage.looks(page, "experiment-search");
  const step = page.getByRole("status", { name: "Shown decision" });
  const shown = await step.textContent();
  await canvas.focus();
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => new URL(page.url()).searchParams.get("version")).not.toBeNull();
  await expect.poll(() => step.textContent()).not.toBe(shown);
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => step.textContent()).toBe(shown);
  await page.getByRole("button", { name: "Table" }).click();
  await page.getByRole("region", { name: "Trials of the search" }).waitFor();
});
