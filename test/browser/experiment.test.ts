/** The page of an experiment: curves that grow, trials, and the search replayed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../world/eventually.ts";
import { useStage } from "./support/stage.ts";

const stage = useStage({ slots: 4 });

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
`;

let code: string;
beforeAll(() => {
  code = mkdtempSync(join(tmpdir(), "experiment-page-"));
  writeFileSync(join(code, "train.py"), script);
});
afterAll(() => rmSync(code, { recursive: true }));

const asha = `{ name: asha, metric: loss, smaller_is_better: true, max_trials: 9, max_time: 9, time_metric: batches, divisor: 3, max_concurrent_trials: 4 }`;

async function ended(experiment: string): Promise<void> {
  await eventually(`experiment ${experiment} has ended`, async () => {
    const { endedAtMs } = await stage.world.client.call("getExperiment", { experiment });
    return endedAtMs !== undefined;
  });
}

const submit = (searcher: string, gate = ""): Promise<string> =>
  stage.world.submit(
    [
      "name: page",
      "entrypoint: python3 train.py",
      `hyperparameters: { lr: { type: double, minval: 0, maxval: 1 }, gate: "${gate}" }`,
      `searcher: ${searcher}`,
    ].join("\n"),
    code,
  );

/** An ended search, of which several tests show something. */
let search: Promise<string> | undefined;
const searched = (): Promise<string> =>
  (search ??= (async () => {
    const experiment = await submit(asha);
    await ended(experiment);
    return experiment;
  })());

test("a running experiment's curves grow, and its trials come, without a read of the series", async ({
  skip,
}) => {
  const gate = join(code, "go");
  const page = await stage.page(skip, "/");
  const random = `{ name: random, metric: loss, smaller_is_better: true, max_trials: 1 }`;
  const experiment = await submit(random, gate);
  await page.goto(`${stage.world.api}/experiments/${experiment}?metric=training+loss`);
  await page.getByText("showing all 4 points").waitFor();
  const reads: string[] = [];
  page.on("request", (request) => reads.push(new URL(request.url()).pathname));
  writeFileSync(gate, "");
  await page.getByText("showing all 9 points").waitFor();
  expect(reads.filter((path) => path.endsWith("metrics:series")).length).toBeLessThanOrEqual(1);
  await page.getByText("completed").first().waitFor();
  await stage.looks(page, "experiment-overview");
});

test("trials are filtered, selected by keyboard, and their curves are a table too", async ({
  skip,
}) => {
  const page = await stage.page(skip, "/");
  const experiment = await searched();
  await page.goto(`${stage.world.api}/experiments/${experiment}?tab=trials`);
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

test("a search is replayed by keyboard, and says of each stop what yard search explain says", async ({
  skip,
}) => {
  const page = await stage.page(skip, "/");
  const experiment = await searched();
  await page.goto(`${stage.world.api}/experiments/${experiment}?tab=search`);
  const canvas = page.getByRole("img", { name: /trials of asha/ });
  await canvas.waitFor();
  const explained = await stage.world.yard("search", "explain", experiment);
  const stops = [
    ...explained.out.matchAll(
      /trial \d+\.(\d+) stopped by \w+: .*?rank=(\d+) of=(\d+) kept=(\d+)/g,
    ),
  ];
  expect(stops.length).toBeGreaterThanOrEqual(3);
  for (const [, trial = "", rank, of, kept] of stops.slice(0, 3)) {
    await page.goto(`${stage.world.api}/experiments/${experiment}?tab=search&trial=${trial}`);
    await page.getByText(`rank ${rank} of ${of}, ${kept} kept`).first().waitFor();
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
