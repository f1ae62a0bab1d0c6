/** Tests of the columns of the experiments' list, which fit the window, and of its saved views. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Stage } from "../support/cluster-stage.ts";
import { test } from "../support/stage.ts";

type Skip = Parameters<Stage["page"]>[0];

/** The list with an experiment of a long name. */
async function opened(skip: Skip, stage: Stage, more = ""): Promise<Page> {
  const config = `name: wide-table-of-many-columns
entrypoint: "false"
hyperparameters: {lr: 0.1}
searcher: {name: single, metric: loss}
`;
  const request = { config, context: new Uint8Array(), paused: true };
  await stage.world.client.call("createExperiment", request);
  const page = await stage.page(skip, `/experiments?filter=wide${more}`);
  await page.getByRole("row", { name: "wide-table" }).first().waitFor();
  return page;
}

test("the columns of the list fit the window, and those for which it is too narrow are named", async ({
  skip,
  stage,
}) => {
  const page = await opened(skip, stage);
  const grid = page.getByRole("grid");
  const titles = () => grid.getByRole("columnheader").allTextContents();
  const isWhole = () => grid.evaluate((area) => area.scrollWidth <= area.clientWidth);
  for (const width of [1_440, 1_280]) {
    await page.setViewportSize({ width, height: 800 });
    await expect.poll(isWhole).toBe(true);
    const shown = await titles();
    expect(shown).toEqual(expect.arrayContaining(["Owner", "Duration", "Labels"]));
    expect(shown[shown.indexOf("Best") + 1]).toBe("Metric");
  }
  await stage.looks(page, "experiments-1280");
  await page.setViewportSize({ width: 360, height: 780 });
  const note = page.getByRole("button", { name: /^8 columns hidden: Progress, .*Owner/ });
  await note.waitFor();
  expect(await isWhole()).toBe(true);
  await stage.looks(page, "phone-experiments-columns");
  await note.click();
  await note.waitFor({ state: "detached" });
  expect(await titles()).toContain("Owner");
  expect(await isWhole()).toBe(false);
});

test("the width of a column is chosen by keyboard as a share of the table", async ({
  skip,
  stage,
}) => {
  const page = await opened(skip, stage);
  await page.getByRole("button", { name: "Columns" }).click();
  const dialog = page.getByRole("dialog", { name: "Columns" });
  expect(await dialog.getByRole("spinbutton").count()).toBe(0);
  await dialog.getByLabel("Width of Name").selectOption("40 %");
  await stage.looks(page, "experiments-columns");
  await dialog.getByRole("button", { name: "Done" }).click();
  const name = page.getByRole("columnheader", { name: "Name" });
  const shareOf = async (): Promise<number> => {
    const [own, all] = await Promise.all([
      name.boundingBox(),
      page.getByRole("grid").boundingBox(),
    ]);
    return (own?.width ?? 0) / (all?.width ?? 1);
  };
  await expect.poll(shareOf).toBeCloseTo(0.4, 1);
  await page.setViewportSize({ width: 1_920, height: 800 });
  await expect.poll(shareOf).toBeCloseTo(0.4, 1);
  const state = page.getByRole("columnheader", { name: "State" });
  const before = await state.boundingBox();
  const edge = (before?.x ?? 0) + (before?.width ?? 0) - 3;
  const y = (before?.y ?? 0) + 16;
  await page.mouse.move(edge, y);
  await page.mouse.down();
  await page.mouse.move(edge + 60, y, { steps: 4 });
  await page.mouse.up();
  await expect
    .poll(async () => (await state.boundingBox())?.width)
    .toBeCloseTo((before?.width ?? 0) + 60, -1);
  expect((await state.boundingBox())?.x).toBe(before?.x);
});

test("a view is saved under a name and opened again", async ({ skip, stage }) => {
  const page = await opened(skip, stage, "&sort=name");
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name: "Save this view…" }).click();
  await page.getByLabel("Name", { exact: true }).fill("wide ones");
  await page.keyboard.press("Enter");
  await page.getByText("The view wide ones is saved in this browser.").waitFor();
  await page.goto(`${stage.world.api}/experiments`);
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitemcheckbox", { name: "wide ones" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("?filter=wide&sort=name");
});

test("the rows of the list are requested once, beside the first load", async ({ skip, stage }) => {
  const page = await opened(skip, stage);
  const requested: string[] = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname === "/api/v1/experiments") requested.push(search);
  });
  await page.goto(`${stage.world.api}/experiments`);
  await page.getByRole("grid").getByRole("link").first().waitFor();
  expect(requested).toEqual(["?pageSize=50&count=true"]);
  expect(await page.locator("link[rel=preload][as=fetch]").count()).toBe(1);
  // In another order other rows are wanted.
  await page.goto(`${stage.world.api}/experiments?sort=name`);
  await page.getByRole("grid").getByRole("link").first().waitFor();
  expect(await page.locator("link[rel=preload][as=fetch]").count()).toBe(0);
});
