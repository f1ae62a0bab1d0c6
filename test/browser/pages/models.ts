/**
 * Tests from a checkpoint to a promoted version, and of an experiment's checkpoints, configuration, code, notes and
 * fork.
 */
import { expect } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { findChromium } from "../support/chromium.ts";
import type { Stage } from "../support/cluster-stage.ts";
import { test as base } from "../support/stage.ts";

const script = `
import trainyard

with trainyard.init() as ctx:
    lr = ctx.info.hparams["lr"]
    for step in (1, 2):
        ctx.train.report_validation_metrics(step, {"loss": lr / step, "accuracy": step / 2})
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "weights.txt").write_text(str(step))
`;
const config = [
  "name: shelf",
  "entrypoint: python3 train.py",
  "hyperparameters: { lr: 0.5 }",
  "searcher: { name: single, metric: loss, smaller_is_better: true }",
  "checkpoint_policy: none",
].join("\n");

async function trained({ world }: Stage): Promise<string> {
  const experiment = await world.submit(config, "shelf-code");
  await eventually(`experiment ${experiment} has ended`, async () => {
    const { endedAtMs } = await world.client.call("getExperiment", { experiment });
    return endedAtMs !== undefined;
  });
  return experiment;
}

/** Two ended experiments that several tests use. */
const test = base.extend("both", { scope: "file" }, async ({ shared }) => {
  const none: readonly [string, string] = ["", ""];
  if (findChromium().program === null) return none;
  shared.world.write("shelf-code/train.py", script);
  return await Promise.all([trained(shared), trained(shared)]);
});

test("a checkpoint is registered from its experiment's page, promoted, and compared with another version", async ({
  skip,
  stage,
  both,
}) => {
  const page = await stage.page(skip, "/");
  for (const [index, experiment] of both.entries()) {
    await page.goto(`${stage.world.api}/experiments/${experiment}?tab=checkpoints`);
    await page.getByRole("row").filter({ hasText: "complete" }).first().click();
    const archive = await page.getByRole("link", { name: "Download" }).getAttribute("href");
    expect((await page.request.get(`${stage.world.api}${archive}`)).status()).toBe(200);
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByLabel("Model").fill("shelf");
    await page.getByRole("dialog").getByRole("button", { name: "Register" }).click();
    await page.getByText(`Registered version ${index + 1} of shelf.`).waitFor();
  }
  await stage.looks(page, "experiment-checkpoints");
  await page.getByRole("link", { name: "Models" }).click();
  await page.getByRole("link", { name: "shelf" }).waitFor();
  await stage.looks(page, "models");
  await page.getByRole("link", { name: "shelf" }).click();
  await page.getByRole("button", { name: "Promote a version" }).click();
  await page.getByLabel("Version", { exact: true }).fill("2");
  await page.getByLabel("Reason").fill("better on the shelf");
  await page.getByRole("dialog").getByRole("button", { name: "Promote" }).click();
  await page.getByRole("gridcell", { name: "champion" }).waitFor();
  const grid = page.getByRole("grid", { name: "Versions" });
  await grid.focus();
  for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
  await page.getByRole("button", { name: "Compare 2" }).click();
  const compared = page.getByRole("region", { name: "Comparison of versions" });
  await compared.getByRole("row").filter({ hasText: "experiment" }).waitFor();
  await stage.looks(page, "model");
  await page.getByRole("tab", { name: /Aliases/ }).click();
  await page.getByText("better on the shelf").waitFor();
  const { aliases } = await stage.world.client.call("getModel", { model: "shelf" });
  expect(aliases).toEqual({ champion: 2 });
  await stage.looks(page, "model-aliases");
});

test("a fork has the learning rate that was edited, after the server has refused a wrong text", async ({
  skip,
  stage,
  both: [experiment],
}) => {
  const page = await stage.page(skip, "/");
  await page.goto(`${stage.world.api}/experiments/${experiment}`);
  await page.getByRole("button", { name: "Fork" }).click();
  const editor = page.getByRole("textbox", { name: "Configuration" });
  const text = await stage.world.client.call("getSubmission", { experiment });
  stage.guardOf(page).expect(/400/);
  await editor.fill(text.config.replace("single", "singel"));
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByRole("alert").getByText("searcher.name").first().waitFor();
  await editor.fill(text.config.replace("val: 0.5", "val: 0.25"));
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("The configuration is valid.").waitFor();
  await stage.looks(page, "experiment-fork");
  await page.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(`/${experiment}`));
  const fork = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.goto(`${stage.world.api}/experiments/${fork}?tab=configuration&other=${experiment}`);
  const row = page.getByRole("row").filter({ hasText: "hyperparameters.lr" });
  await row.getByText("0.25").waitFor();
  expect(await row.innerText()).toContain("0.5");
  await stage.looks(page, "experiment-difference");
});

test("a fork is a form with its text beside it, and Escape asks before it discards changes", async ({
  skip,
  stage,
  both: [experiment],
}) => {
  const page = await stage.page(skip, `/experiments/${experiment}`);
  const dialog = page.getByRole("dialog");
  const editor = dialog.getByRole("textbox", { name: "Configuration" });
  const lr = dialog.getByRole("textbox", { name: "lr", exact: true });
  const open = async (): Promise<void> => {
    await page.getByRole("button", { name: "Fork" }).click();
    await editor.click();
  };
  await open();
  expect(await editor.innerText()).toContain("hyperparameters: { lr: 0.5 }");
  expect(await editor.innerText()).not.toContain("max_restarts");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await open();
  await lr.fill("1e-3");
  await dialog.getByLabel("Restarts at most").fill("2");
  await expect.poll(() => editor.innerText()).toContain("lr: 1e-3");
  expect(await editor.innerText()).toContain("max_restarts: 2");
  await stage.looks(page, "experiment-fork-form");
  await editor.fill("name: [1");
  await dialog.getByText(/The text is no valid YAML/).waitFor();
  expect(await lr.isDisabled()).toBe(true);
  await stage.looks(page, "experiment-fork-invalid");
  await editor.fill("hyperparameters: {lr: 0.25}");
  await expect.poll(() => lr.inputValue()).toBe("0.25");
  await editor.press("Control+f");
  await page.getByRole("textbox", { name: "Find" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Find" }).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await dialog.getByText("Discard your changes?").waitFor();
  await page.keyboard.press("Escape");
  await dialog.getByText("Discard your changes?").waitFor({ state: "detached" });
  expect(await lr.inputValue()).toBe("0.25");
  await page.setViewportSize({ width: 360, height: 740 });
  await stage.looks(page, "experiment-fork-phone");
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Discard" }).click();
  await dialog.waitFor({ state: "detached" });
});

test("the keyboard alone leads from Home to a fork with another learning rate", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/");
  const request = { config, context: new Uint8Array(), paused: true };
  const created = await stage.world.client.call("createExperiment", request);
  const experiment = created.experiment?.id ?? "";
  const { keyboard } = page;
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await keyboard.press(key);
  };
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await press("g", "e");
  const grid = page.getByRole("grid", { name: "Experiments" });
  await grid.getByRole("link", { name: "shelf" }).first().waitFor();
  await press("j", "Enter");
  await page.waitForURL(`**/experiments/${experiment}`);
  await page.getByRole("button", { name: "Fork" }).waitFor();
  await press("Control+k");
  await page.getByRole("option", { name: "Fork" }).waitFor();
  await keyboard.type("fork");
  await press("Enter");
  const field = page.getByRole("textbox", { name: "lr", exact: true });
  await expect.poll(() => field.evaluate((it) => it === document.activeElement)).toBe(true);
  await press("Control+a");
  await keyboard.type("0.125");
  await press("Control+Enter");
  await page.waitForURL((url) => !url.pathname.endsWith(`/${experiment}`));
  const fork = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const { config: forked } = await stage.world.client.call("getSubmission", { experiment: fork });
  expect(forked).toContain("val: 0.125");
});

test("an experiment shows its code and keeps the notes that are written on its page", async ({
  skip,
  stage,
  both: [experiment],
}) => {
  const page = await stage.page(skip, "/");
  await page.goto(`${stage.world.api}/experiments/${experiment}?tab=code`);
  await page.getByText("import trainyard").waitFor();
  await stage.looks(page, "experiment-code");
  await page.getByRole("tab", { name: "Configuration" }).click();
  await page.getByText("values are defaults of the platform").waitFor();
  await stage.looks(page, "experiment-configuration");
  await page.getByRole("tab", { name: "Notes" }).click();
  await page.getByRole("textbox", { name: "Notes" }).fill("A learning rate of 0.5 is enough.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(`Saved the notes of experiment ${experiment}.`).waitFor();
  const saved = await stage.world.client.call("getExperiment", { experiment });
  expect(saved.notes).toBe("A learning rate of 0.5 is enough.");
  await stage.looks(page, "experiment-notes");
});
