/**
 * Tests of Home and the list of experiments: finding, showing, changing and following, with the pointer and with the
 * keyboard alone.
 */
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { expectStill } from "../support/still.ts";
import { findChromium } from "../support/chromium.ts";
import type { Stage } from "../support/cluster-stage.ts";
import { test as base } from "../support/stage.ts";

async function create({ world }: Stage, name: string, more = ""): Promise<string> {
  const config = `name: ${name}
entrypoint: "false"
max_restarts: 0
hyperparameters: {lr: 0.1, optimizer: {decay: 0.5}}
searcher: {name: single, metric: loss}
${more}`;
  const request = { config, context: new Uint8Array(), paused: true };
  const { experiment } = await world.client.call("createExperiment", request);
  return experiment?.id ?? "";
}

/** Creates four experiments in two projects before the first test. */
const test = base.extend("listed", { scope: "file", auto: true }, async ({ shared }) => {
  if (findChromium().program === null) return;
  const { client } = shared.world;
  await client.call("createWorkspace", { name: "vision" });
  await client.call("createProject", { workspace: "vision", name: "segmentation" });
  for (const name of ["resnet-a", "resnet-b", "bert-a"])
    await create(shared, name, "labels: [nightly]");
  await create(shared, "unet", "workspace: vision\nproject: segmentation\nlabels: [prod]");
});

const row = (page: Page, name: string) => page.getByRole("row", { name });
const focused = (place: Locator) =>
  expect.poll(() => place.evaluate((element) => element === document.activeElement)).toBe(true);
const selected = (page: Page) => page.getByRole("group", { name: "Selected experiments" });

test("Home shows the cluster and leads to the experiments of each part", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/");
  await page.getByText(/0 of \d+ slots in use, 1 agent/).waitFor();
  await page.getByText("Nothing has failed.").waitFor();
  await stage.looks(page, "home");
  const { client } = stage.world;
  const id = await create(stage, "going");
  await client.call("activateExperiment", { experiment: id });
  await page.getByRole("region", { name: "Failed" }).getByRole("link", { name: "going" }).waitFor();
  await page.getByText("Nothing runs.").waitFor();
  expect(await page.title()).toBe("Home · Trainyard");
  await page.setViewportSize({ width: 390, height: 844 });
  const message = page.getByRole("region", { name: "Failed" }).getByText(/exited with code/);
  await message.waitFor();
  await stage.looks(page, "phone-home");
  await client.call("deleteExperiment", { experiment: id });
});

test("a list is filtered, sorted and placed, and its address shows others the same", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments");
  await row(page, "unet").waitFor();
  await page.getByLabel("Filter", { exact: true }).fill("resnet");
  await page.keyboard.press("Enter");
  await page.getByText("2 experiments", { exact: true }).waitFor();
  await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
  await expect.poll(() => new URL(page.url()).search).toContain("sort=name");
  const names = () => page.getByRole("grid").getByRole("link").allTextContents();
  await expect.poll(names).toEqual(["resnet-a", "resnet-b"]);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("columnheader", { name: "Name" }).waitFor();
  await other.getByText("2 experiments", { exact: true }).waitFor();
  await other.getByRole("button", { name: "Projects of vision" }).click();
  await other.getByRole("button", { name: "segmentation", exact: true }).click();
  await other.getByText("No experiment matches.").waitFor();
  await stage.looks(other, "experiments-empty");
});

test("a refused filter is explained at its column, and the last result stays", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments");
  stage.guardOf(page).expect(/400/);
  await row(page, "unet").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("state = ERROR and nme = 3");
  await page.keyboard.press("Enter");
  await page.getByText(/Column 19: .*nme/).waitFor();
  await stage.looks(page, "experiments-fault");
  expect(await page.getByRole("grid").getByRole("link").count()).toBeGreaterThan(0);
});

test("columns are chosen, hyperparameters too, and a CSV file has them", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments?filter=resnet");
  await row(page, "resnet-a").waitFor();
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByLabel("Add a column").fill("decay");
  await page.getByRole("checkbox", { name: "optimizer.decay" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("columnheader", { name: "optimizer.decay" }).waitFor();
  await row(page, "resnet-a").getByText("0.5").waitFor();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as CSV" }).click();
  const lines = readFileSync(await (await saved).path(), "utf8").split("\r\n");
  expect(lines[0]).toMatch(/^ID,Name,State,.*optimizer\.decay$/);
  expect(lines[1]).toMatch(/,resnet-b,PAUSED,.*,0\.5$/);
  expect(lines).toHaveLength(4);
});

test("experiments are selected and acted on by the keyboard alone, after the server's preview", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments?filter=resnet&sort=name");
  await row(page, "resnet-b").waitFor();
  for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
  await selected(page).getByText("2 experiments selected").waitFor();
  await selected(page).getByRole("button", { name: "Pause" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("2 experiments need no change").waitFor();
  await stage.looks(page, "experiments-preview");
  await page.keyboard.press("Escape");
  // A closed dialog returns the focus, and an opened menu takes it: keys pressed earlier go to another element.
  await focused(selected(page).getByRole("button", { name: "Pause" }));
  await selected(page).getByRole("button", { name: "More" }).focus();
  await page.keyboard.press("Enter");
  await focused(page.getByRole("menu").locator(":focus"));
  await page.keyboard.type("kill");
  await focused(page.getByRole("menuitem", { name: "Kill" }));
  await page.keyboard.press("Enter");
  await page.getByText("2 experiments will be killed").waitFor();
  const kill = page.getByRole("button", { name: "Kill 2 experiments" });
  expect(await kill.isDisabled()).toBe(true);
  await page.getByLabel("Type 2, the number of experiments, to confirm").fill("2");
  await kill.focus();
  await page.keyboard.press("Enter");
  await page.getByText("2 experiments killed.").waitFor();
  await row(page, "resnet-a").getByText("canceled").waitFor();
});

test("labels of selected experiments are changed together, after the server's preview", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments?filter=resnet");
  // Beside the inspector a narrower list has no room for labels.
  await page.setViewportSize({ width: 1_440, height: 800 });
  await row(page, "resnet-b").waitFor();
  await page.getByRole("grid").focus();
  for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
  await selected(page).getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Add or remove labels" }).click();
  await page.getByLabel("Add labels").fill("vision, kept");
  await page.getByLabel("Remove labels").fill("nightly");
  await page.getByText("2 experiments will be labelled").waitFor();
  await stage.looks(page, "experiments-label");
  await page.getByRole("button", { name: "Label 2 experiments" }).click();
  await page.getByText("2 experiments labelled.").waitFor();
  await row(page, "resnet-a").getByText("kept", { exact: true }).waitFor();
  const { items } = await stage.world.client.call("listExperiments", { filter: "resnet" });
  expect(items.map(({ labels }) => labels)).toEqual([
    ["kept", "vision"],
    ["kept", "vision"],
  ]);
});

test("labels are edited in place, and the row follows what others change", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments?filter=bert");
  await page.setViewportSize({ width: 1_440, height: 800 });
  await row(page, "bert-a").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("l");
  await page.getByLabel(/^Labels of experiment/).fill("nightly, mine");
  await page.keyboard.press("Enter");
  await row(page, "bert-a").getByText("mine", { exact: true }).waitFor();
  const { client } = stage.world;
  const { items } = await client.call("listExperiments", { filter: "name = bert-a" });
  expect(items[0]?.labels).toEqual(["mine", "nightly"]);
  await client.call("updateExperiment", { experiment: items[0]?.id ?? "", name: "bert-renamed" });
  await row(page, "bert-renamed").waitFor();
});

test("new rows wait until they are asked for, and the inspector shows the chosen one", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments");
  await row(page, "unet").getByText("paused").click();
  await page
    .getByRole("complementary", { name: "Inspector" })
    .getByText("vision / segmentation")
    .waitFor();
  await stage.looks(page, "experiments");
  await create(stage, "late");
  await page.getByRole("button", { name: "1 new, show" }).click();
  await row(page, "late").waitFor();
  await page.getByRole("grid").focus();
  await page.keyboard.press("Escape");
  await page.getByRole("complementary", { name: "Inspector" }).waitFor({ state: "detached" });
  expect(new URL(page.url()).search).toBe("");
});

/** The box that selects a row. */
const box = (page: Page, name: string) => row(page, name).getByRole("gridcell").first();

test("selecting experiments moves no row, so that the next click selects what is under it", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments?sort=name");
  const next = box(page, "unet");
  await next.waitFor();
  const { x = 0, y = 0, width = 0, height = 0 } = (await next.boundingBox()) ?? {};
  await expectStill(next, async () => {
    await box(page, "resnet-a").click();
    await selected(page).getByText("1 experiment selected").waitFor();
  });
  await page.mouse.click(x + width / 2, y + height / 2);
  await selected(page).getByText("2 experiments selected").waitFor();
  expect(await row(page, "unet").getAttribute("aria-selected")).toBe("true");
  await stage.looks(page, "experiments-selected");
});

test("a refused filter, and an answer that fails, move no row", async ({ skip, stage }) => {
  const page = await stage.page(skip, "/experiments");
  stage.guardOf(page).expect(/400|403/);
  await expectStill(row(page, "unet"), async () => {
    await page.getByLabel("Filter", { exact: true }).fill("nme = 3");
    await page.getByText("Enter ↵").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText(/Column 1: .*nme/).waitFor();
  });
  await page.route(/\/experiments\?.*unreadable/, (route) =>
    route.fulfill({ status: 403, body: "{}" }),
  );
  await expectStill(row(page, "unet"), async () => {
    await page.getByLabel("Filter", { exact: true }).fill("unreadable");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByRole("button", { name: "Try again" }).waitFor();
  });
  await stage.looks(page, "experiments-error");
});

test("an order is fixed while the pointer or the focus is in the list, and its rows follow changes", async ({
  skip,
  stage,
}) => {
  const { client } = stage.world;
  const page = await stage.page(skip, "/experiments");
  await row(page, "unet").hover();
  await expectStill(row(page, "unet"), async () => {
    const id = await create(stage, "held-back");
    await page.getByRole("button", { name: "1 new, show" }).waitFor();
    await client.call("updateExperiment", { experiment: id, name: "held-renamed" });
    const [unet] = (await client.call("listExperiments", { filter: "name = unet" })).items;
    await client.call("updateExperiment", {
      experiment: unet?.id ?? "",
      addLabels: ["followed"],
    });
    await row(page, "unet").getByText("followed", { exact: true }).waitFor();
  });
  await stage.looks(page, "experiments-held");
  expect(await row(page, "held").count()).toBe(0);
  await page.getByRole("heading", { name: "Experiments" }).hover();
  await row(page, "held-renamed").waitFor();
  await page.getByRole("button", { name: /new, show/ }).waitFor({ state: "detached" });
  await page.getByRole("grid").focus();
  await expectStill(row(page, "unet"), async () => {
    await create(stage, "held-again");
    await page.getByRole("button", { name: "1 new, show" }).waitFor();
  });
});

test("rows come into the places of their skeletons, and the next page moves none", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/tokens");
  const steps = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  let reads = 0;
  await page.route(/\/api\/v1\/experiments\?/, async (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set("pageSize", "2");
    await steps[reads++]?.promise;
    await route.continue({ url: url.href });
  });
  await page.goto(`${stage.world.api}/experiments?sort=name`);
  const loading = page.getByRole("status", { name: "Loading Experiments" });
  const place = await loading.locator("[aria-hidden] > span").first().boundingBox();
  await stage.looks(page, "experiments-loading");
  steps[0]?.resolve(undefined);
  const first = page.getByRole("row").nth(1);
  await first.getByRole("link").waitFor();
  const { y, height } = (await first.boundingBox()) ?? {};
  expect({ y, height }).toEqual({ y: place?.y, height: place?.height });
  await expectStill(first, async () => {
    steps[1]?.resolve(undefined);
    await row(page, "unet").waitFor();
  });
});

test("workspaces and projects are made, described and archived in the tree, and experiments moved into them", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments?filter=bert");
  const { client } = stage.world;
  const tree = page.getByRole("navigation", { name: "Workspaces and projects" });
  await row(page, "bert").waitFor();
  await tree.getByRole("button", { name: "New workspace" }).click();
  await page.getByLabel("Name", { exact: true }).fill("speech");
  await page.keyboard.press("Enter");
  await expect.poll(() => new URL(page.url()).searchParams.get("workspace")).toBe("speech");
  await tree.getByRole("button", { name: "More of workspace speech" }).click();
  await page.getByRole("menuitem", { name: "New project" }).click();
  await page.getByLabel("Name", { exact: true }).fill("asr");
  await page.keyboard.press("Enter");
  await expect.poll(() => new URL(page.url()).searchParams.get("project")).toBe("asr");
  await tree.getByRole("button", { name: "Projects of speech" }).click();
  await tree.getByRole("button", { name: "More of project asr of speech" }).click();
  await page.getByRole("menuitem", { name: "Describe" }).click();
  await page.getByLabel("Description").fill("recognises speech");
  await stage.looks(page, "experiments-place");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The description of project asr of speech is saved.").waitFor();
  const place = { workspace: "speech", project: "asr" };
  expect((await client.call("getProject", place)).description).toBe("recognises speech");
  await tree.getByRole("button", { name: "All workspaces" }).click();
  await row(page, "bert").waitFor();
  for (const key of ["j", "x"]) await page.keyboard.press(key);
  await selected(page).getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Move to a project" }).click();
  await page.getByLabel("Workspace", { exact: true }).selectOption("speech");
  await page.getByLabel("Project", { exact: true }).selectOption("asr");
  await page.getByText("1 experiment will be moved").waitFor();
  await page.getByRole("button", { name: "Move 1 experiment" }).click();
  await tree.getByRole("button", { name: "asr", exact: true }).click();
  await row(page, "bert").waitFor();
  await tree.getByRole("button", { name: "More of project asr of speech" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByText("The project asr of speech is archived").waitFor();
  await tree.getByRole("button", { name: "asr", exact: true }).waitFor({ state: "detached" });
  expect((await client.call("getProject", place)).archived).toBe(true);
});

test("a deleted experiment is brought back from its page, and from the list", async ({
  skip,
  stage,
}) => {
  const { client } = stage.world;
  const id = await create(stage, "lost");
  const remove = async (): Promise<void> => {
    await client.call("deleteExperiment", { experiment: id, reason: "a mistake" });
  };
  await client.call("killExperiment", { experiment: id });
  await remove();
  const page = await stage.page(skip, `/experiments/${id}`);
  stage.guardOf(page).expect(/404/);
  await page.getByText(/is deleted: a mistake\. It can be brought back until/).waitFor();
  await stage.looks(page, "experiment-deleted");
  await page.getByRole("button", { name: `Bring back experiment ${id}` }).click();
  await page.getByRole("heading", { name: `${id} lost` }).waitFor();
  await remove();
  await page.goto(`${stage.world.api}/experiments?filter=lost`);
  await page.getByText("No experiment matches.").waitFor();
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Deleted experiments" }).click();
  await page.getByRole("button", { name: `Bring back experiment ${id}` }).waitFor();
  await stage.looks(page, "experiments-deleted");
  await page.getByRole("button", { name: `Bring back experiment ${id}` }).click();
  await page.getByText(`Experiment ${id} is back.`).waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).last().click();
  await row(page, "lost").waitFor();
  expect((await client.call("getExperiment", { experiment: id })).name).toBe("lost");
});
