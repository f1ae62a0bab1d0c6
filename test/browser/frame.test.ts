/** The frame of each page: sign-in, keys, palette, tokens, the live link and its loss. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useStage } from "./support/stage.ts";

const stage = useStage();

const signInHeading = (page: Page) => page.getByRole("heading", { name: "Sign in to Trainyard" });
const single = `entrypoint: "true"
hyperparameters: {}
searcher: {name: single, metric: loss}
`;

async function create(name: string): Promise<string> {
  const request = { config: `name: ${name}\n${single}`, context: new Uint8Array(), paused: true };
  const { experiment } = await stage.world.client.call("createExperiment", request);
  return experiment?.id ?? "";
}

test("a link signs in once, and its code leaves the address", async ({ skip }) => {
  const { page } = await stage.visitor(skip);
  const link = await stage.link();
  await page.goto(link);
  await page.getByRole("heading", { name: "Home" }).waitFor();
  expect(page.url()).toBe(`${stage.world.api}/`);
  const { page: other, guard } = await stage.visitor(skip);
  guard.expect(/401/);
  await other.goto(link);
  await other.getByText(/The link has been used already/).waitFor();
  expect(other.url()).not.toContain("#");
});

test("a visitor signs in with a token and comes to the page that was asked for", async ({
  skip,
}) => {
  const { page, guard } = await stage.visitor(skip);
  guard.expect(/401/);
  await page.goto(`${stage.world.api}/experiments?filter=resnet`);
  await signInHeading(page).waitFor();
  await stage.looks(page, "sign-in");
  await page.getByLabel("Or a token").fill("no token");
  await page.keyboard.press("Enter");
  await page.getByText(/Invalid token/).waitFor();
  await page.getByLabel("Or a token").fill(stage.world.access.token);
  await page.keyboard.press("Enter");
  await page.getByText("No experiment is like that.").waitFor();
  expect(new URL(page.url()).search).toBe("?filter=resnet");
  const stored = await page.evaluate(() => JSON.stringify([localStorage, document.cookie]));
  expect(stored).not.toContain(stage.world.access.token);
});

test("the end of a session ends it in every tab", async ({ skip }) => {
  const page = await stage.page(skip, "/experiments");
  stage.guardOf(page).expect(/401/);
  await page.getByText("There is no experiment yet.").waitFor();
  const other = await page.context().newPage();
  await other.goto(`${stage.world.api}/tokens`);
  await other.getByRole("button", { name: "Sign out" }).click();
  await signInHeading(other).waitFor();
  await signInHeading(page).waitFor();
  expect(new URL(page.url()).search).toBe("?back=%2Fexperiments");
});

test("a token is created, shown once and revoked", async ({ skip }) => {
  const page = await stage.page(skip, "/tokens");
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByLabel("Label").fill("nightly build");
  await page.keyboard.press("Enter");
  const secret = await page.getByRole("dialog").locator("code").textContent();
  const headers = { authorization: `Bearer ${secret}` };
  const version = () => fetch(`${stage.world.api}/api/v1/experiments`, { headers });
  expect((await version()).status).toBe(200);
  await stage.looks(page, "token-secret");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Revoke nightly build" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("row", { name: /nightly build .*revoked/ }).waitFor();
  await stage.looks(page, "tokens");
  expect((await version()).status).toBe(401);
});

test("keys lead to every page, the sheet of keys and the palette", async ({ skip }) => {
  await create("resnet-palette");
  const page = await stage.page(skip, "/");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  for (const key of ["g", "e"]) await page.keyboard.press(key);
  await page.getByRole("grid", { name: "Experiments" }).waitFor();
  await expect.poll(() => page.title()).toBe("Experiments · Trainyard");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await stage.looks(page, "keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("resnet-pal");
  await page.getByRole("option", { name: /resnet-palette/ }).waitFor();
  await stage.looks(page, "palette");
  await page.getByRole("combobox").fill("compact");
  await page.getByRole("option", { name: "Compact rows" }).waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => new URL(page.url()).search).toBe("?compact=true");
});

test("an address without a page says so", async ({ skip }) => {
  const page = await stage.page(skip, "/no/such/page");
  await page.getByText("There is no page at this address.").waitFor();
  expect(await page.title()).toBe("Not found · Trainyard");
  await stage.looks(page, "not-found");
});

test("tabs share one stream, and a lost link is said until it is there again", async ({ skip }) => {
  const id = await create("followed");
  const page = await stage.page(skip, "/experiments");
  stage.guardOf(page).expect(/Failed to load resource|ERR_/);
  const ownStreams: string[] = [];
  page.context().on("page", (tab) =>
    tab.on("request", (request) => {
      if (request.url().endsWith("/api/v1/watch")) ownStreams.push(request.url());
    }),
  );
  const tabs = [page];
  for (let tab = 1; tab < 4; tab += 1) {
    const other = await page.context().newPage();
    await other.goto(page.url());
    tabs.push(other);
  }
  for (const tab of tabs) await tab.getByRole("row", { name: "followed" }).waitFor();
  // A platform that was killed is up again before its silence is long enough to be said.
  const platform = await stage.world.pidOf("trainyard");
  process.kill(platform, "SIGSTOP");
  for (const tab of tabs) await tab.getByText("No connection").waitFor();
  process.kill(platform, "SIGCONT");
  await stage.world.client.call(
    "updateExperiment",
    { experiment: id, name: "after the loss" },
    { outlast: true, idempotencyKey: crypto.randomUUID() },
  );
  for (const tab of tabs) {
    await tab.getByRole("row", { name: "after the loss" }).waitFor();
    await tab.getByText("No connection").waitFor({ state: "detached" });
  }
  // The stream is the SharedWorker's: no tab has one of its own.
  expect(ownStreams).toEqual([]);
});
