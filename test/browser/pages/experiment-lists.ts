/** The lists of an experiment's page: its checkpoints, its trials, and the tasks that show it. */
import { expect } from "vitest";
import { findChromium } from "../support/chromium.ts";
import { test as base } from "../support/stage.ts";

const script = `
import trainyard

with trainyard.init() as ctx:
    lr = ctx.info.hparams["lr"]
    ctx.train.report_validation_metrics(1, {"loss": (1 - lr) / 3000, "accuracy": lr, "batches": 1, "epochs": 1})
    with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, _):
        (path / "step.txt").write_text("1")
`;

const config = `name: short
entrypoint: python3 train.py
hyperparameters:
  lr: { type: categorical, vals: [0.3, 0.1] }
  optimizer: { type: categorical, vals: [sgd, adam] }
searcher: { name: grid, metric: loss, smaller_is_better: true }
`;

/** An experiment of four trials that have ended. */
const test = base.extend("short", { scope: "file" }, async ({ shared: { world } }) => {
  if (findChromium().program === null) return "";
  world.write("short-code/train.py", script);
  const experiment = await world.submit(config, "short-code");
  await world.end(experiment);
  return experiment;
});

test("deleted checkpoints are hidden and counted, and the address says when they are shown", async ({
  skip,
  stage,
  short,
}) => {
  const { client } = stage.world;
  const { items } = await client.call("listCheckpoints", { experiment: short });
  await client.call("deleteCheckpoint", { checkpoint: items[0]?.uuid ?? "" });
  const page = await stage.page(skip, "/");
  const filters: string[] = [];
  // Files are deleted ten minutes after their checkpoint: only the number of such checkpoints is invented.
  await page.route(/\/checkpoints\?/, async (route) => {
    const filter = new URL(route.request().url()).searchParams.get("filter") ?? "";
    filters.push(filter);
    const answer = await route.fetch();
    if (filter !== "state = DELETED") return route.fulfill({ response: answer });
    const json = { ...((await answer.json()) as object), total: 2 };
    return route.fulfill({ response: answer, json });
  });
  await page.goto(`${stage.world.api}/experiments/${short}?tab=checkpoints`);
  await page.getByText(/checkpoints?, 2 deleted hidden/).waitFor();
  expect(filters).toContain("not state = DELETED");
  await page.getByRole("columnheader", { name: "loss" }).waitFor();
  const until = page.getByText(/^can be brought back until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  await until.waitFor();
  const cell = page.getByRole("gridcell").filter({ has: until });
  const rightOf = async (part: typeof cell): Promise<number> => {
    const { x, width } = (await part.boundingBox()) ?? { x: Number.NaN, width: 0 };
    return x + width;
  };
  await expect.poll(async () => (await rightOf(until)) <= (await rightOf(cell))).toBe(true);
  const loss = page.getByRole("gridcell", { name: /^0\.000\d+$/ }).first();
  const isWhole = (): Promise<boolean> =>
    loss.evaluate(({ children }) =>
      [...children].every((one) => one.scrollWidth <= one.clientWidth),
    );
  await expect.poll(isWhole).toBe(true);
  await stage.looks(page, "experiment-checkpoints-hidden");
  await page.getByRole("button", { name: "Show 2 deleted" }).click();
  await page.getByRole("button", { name: "Hide 2 deleted" }).waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("deleted")).toBe("shown");
  await expect.poll(() => filters).toContain("");
});

test("trials come sorted by the metric, with one name, and another order is kept in the address", async ({
  skip,
  stage,
  short,
}) => {
  const page = await stage.page(skip, "/");
  await page.goto(`${stage.world.api}/experiments/${short}?tab=trials`);
  const grid = page.getByRole("grid", { name: "Trials" });
  const row = (at: number) => grid.getByRole("row").nth(at);
  await row(4).waitFor();
  expect(await page.title()).toBe(`${short} short · Trainyard`);
  const best = page.getByRole("columnheader", { name: "Best loss" });
  expect(await best.getAttribute("aria-sort")).toBe("ascending");
  const names = () => grid.getByRole("link").allTextContents();
  expect((await names()).toSorted()).toEqual(["trial 1", "trial 2", "trial 3", "trial 4"]);
  await row(1).getByText("0.000233333", { exact: true }).first().waitFor();
  await row(4).getByText("0.0003", { exact: true }).first().waitFor();
  const titles = await grid.getByRole("columnheader").allTextContents();
  expect(titles).toContain("accuracy");
  expect(titles).not.toContain("batches");
  const sideOf = (text: string) =>
    row(1)
      .getByRole("gridcell")
      .filter({ hasText: text })
      .first()
      .evaluate((cell) => getComputedStyle(cell).justifyContent);
  expect(await sideOf("0.3")).toBe("flex-end");
  expect(await sideOf(/sgd/.test((await row(1).textContent()) ?? "") ? "sgd" : "adam")).toBe(
    "normal",
  );
  await stage.looks(page, "experiment-trials-sorted");
  await page.getByRole("columnheader", { name: "Trial" }).getByRole("button").click();
  await expect.poll(names).toEqual(["trial 1", "trial 2", "trial 3", "trial 4"]);
  expect(new URL(page.url()).searchParams.get("sort")).toBe("number");
});

test("an experiment lists its tasks, and the TensorBoard of chosen trials is one click", async ({
  skip,
  stage,
  short,
}) => {
  const { client } = stage.world;
  const { task } = await client.call("createTask", {
    kind: "command",
    config: `{ name: "errors of experiment ${short}", entrypoint: ["true"], resources: { slots: 0 } }`,
  });
  const page = await stage.page(skip, "/");
  await page.goto(`${stage.world.api}/experiments/${short}?tab=trials&sort=number`);
  const grid = page.getByRole("grid", { name: "Trials" });
  await grid.getByRole("row").nth(4).waitFor();
  await grid.focus();
  for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
  await page.getByText("2 selected").waitFor();
  await page.locator("footer").getByRole("button", { name: "TensorBoard" }).click();
  await page.waitForURL(/\/tasks\/t\d+/);
  await page.goto(`${stage.world.api}/experiments/${short}?tab=tasks`);
  const tasks = page.getByRole("grid", { name: `Tasks of experiment ${short}` });
  await tasks.getByRole("row").filter({ hasText: "trial 1, trial 2" }).waitFor();
  const named = tasks.getByRole("row").filter({ hasText: task?.id ?? "none" });
  await named.getByText("completed").waitFor();
  await stage.looks(page, "experiment-tasks");
  await page.setViewportSize({ width: 360, height: 780 });
  await stage.looks(page, "phone-experiment-tasks");
});
