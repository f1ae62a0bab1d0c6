/**
 * Tests of sign-in and of each page's frame: its policy, sign-out, keys, palette, tokens, the live connection and its
 * loss.
 */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Stage } from "../support/cluster-stage.ts";
import { test } from "../support/stage.ts";

const pathOf = (page: Page): string => new URL(page.url()).pathname;

/** The page list in the frame of a signed-in user. */
const rail = (page: Page) => page.getByRole("navigation", { name: "Pages" });

const signInHeading = (page: Page) => page.getByRole("heading", { name: "Sign in to Trainyard" });

/** The browser's console message about a refused call. */
const refused = /401 \(Unauthorized\)/;

/** The browser's console messages about files of a page that are missing. */
const missing = /Failed to load resource|Failed to fetch|preload|could not be loaded/;

const single = `entrypoint: "true"
hyperparameters: {}
searcher: {name: single, metric: loss}
`;

async function create(stage: Stage, name: string): Promise<string> {
  const request = { config: `name: ${name}\n${single}`, context: new Uint8Array(), paused: true };
  const { experiment } = await stage.world.client.call("createExperiment", request);
  return experiment?.id ?? "";
}

test("a page is served under a policy with a nonce, at every address", async ({ skip, stage }) => {
  const page = await stage.page(skip, "/");
  const answer = await page.goto(`${stage.world.api}/experiments?sort=name`);
  const { "content-security-policy": policy = "" } = answer?.headers() ?? {};
  expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'nonce-[\w-]{22}'; /);
  expect(new URL(page.url()).pathname).toBe("/experiments");
  await page.getByRole("main").waitFor();
});

test("Home of an unused cluster says how to begin, until there is an experiment", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/");
  const begin = page.getByRole("region", { name: "Begin" });
  await begin.getByText(`yard login ${stage.world.api}`, { exact: true }).waitFor();
  expect(await begin.getByRole("button", { name: "Copy the command" }).count()).toBe(3);
  await begin.getByRole("link", { name: "create one" }).waitFor();
  await rail(page).getByRole("link", { name: "Trainyard" }).waitFor();
  await stage.looks(page, "home-unused");
  await page.setViewportSize({ width: 360, height: 780 });
  await stage.looks(page, "phone-home-unused");
  const { client } = stage.world;
  const experiment = await create(stage, "begun");
  await begin.waitFor({ state: "detached" });
  await client.call("killExperiment", { experiment });
  await expect
    .poll(async () => (await client.call("getExperiment", { experiment })).endedAtMs)
    .toBeTruthy();
  await client.call("deleteExperiment", { experiment });
});

test("a script that did not come with the page does not run, and fails a test that does not expect it", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/");
  const guard = stage.guardOf(page);
  expect(guard.faults).toEqual([]);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.ran = true";
    document.body.append(script);
  });
  expect(await page.evaluate(() => "ran" in globalThis)).toBe(false);
  await expect.poll(() => guard.faults.join()).toContain("securitypolicyviolation: script-src");
  guard.expect(/securitypolicyviolation/, /Content Security Policy/);
});

test("a code opens a session once, and the session ends when it is signed out", async ({
  skip,
  stage,
}) => {
  const { context } = await stage.visitor(skip);
  const { code } = await stage.world.client.call("createSessionCode", {});
  const sessions = `${stage.world.api}/api/v1/sessions`;
  const current = `${sessions}/current`;
  expect((await context.request.get(current)).status()).toBe(401);
  expect((await context.request.post(sessions, { data: { code } })).status()).toBe(200);
  expect((await context.request.get(current)).status()).toBe(200);
  const headers = { origin: stage.world.api };
  const again = await context.request.post(sessions, { data: { code }, headers });
  expect(again.status()).toBe(401);
  expect(((await again.json()) as { detail: string }).detail).toContain("used before");
  expect((await context.request.delete(current, { headers })).status()).toBe(200);
  expect((await context.request.get(current)).status()).toBe(401);
});

test("a link signs in once, and its code leaves the address", async ({ skip, stage }) => {
  const link = await stage.link();
  const { page, context } = await stage.visitor(skip);
  await page.goto(link);
  await page.getByRole("heading", { name: "Home" }).waitFor();
  expect(page.url()).toBe(`${stage.world.api}/`);
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
  expect(await page.evaluate(() => document.cookie)).toBe("");
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toMatch(/ty_|code/);
  const late = await stage.visitor(skip);
  late.guard.expect(refused);
  await late.page.goto(link);
  await late.page.getByRole("alert").filter({ hasText: "used already" }).waitFor();
  expect(late.page.url()).not.toContain("#");
  expect(await late.context.cookies()).toEqual([]);
});

test("a token signs in and opens the page that was asked for; a wrong one gets a sentence", async ({
  skip,
  stage,
}) => {
  const { page, guard } = await stage.visitor(skip);
  guard.expect(refused);
  await page.goto(`${stage.world.api}/experiments?filter=resnet`);
  await signInHeading(page).waitFor();
  await stage.looks(page, "sign-in");
  const signIn = async (token: string): Promise<void> => {
    await page.getByLabel("Token").fill(token);
    await page.keyboard.press("Enter");
  };
  await signIn("ty_wrong");
  await page.getByText(/invalid token/i).waitFor();
  await signIn(stage.world.access.token);
  await page.getByText("No experiment matches.").waitFor();
  const { pathname, search } = new URL(page.url());
  expect(pathname + search).toBe("/experiments?filter=resnet");
  const stored = await page.evaluate(() => JSON.stringify([localStorage, document.cookie]));
  expect(stored).not.toContain(stage.world.access.token);
});

test("signing out ends the session, also for the way back", async ({ skip, stage }) => {
  const page = await stage.page(skip, "/");
  stage.guardOf(page).expect(refused);
  await page.getByRole("button", { name: "Sign out" }).click();
  await signInHeading(page).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await page.goto(`${stage.world.api}/`);
  await signInHeading(page).waitFor();
});

test("on a phone the pages have names, and signing out is a line of the menu", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/");
  stage.guardOf(page).expect(refused);
  await page.setViewportSize({ width: 390, height: 844 });
  await rail(page).getByText("Experiments", { exact: true }).waitFor();
  expect(await rail(page).getByRole("button").allInnerTexts()).toEqual(["Go to", "More"]);
  await stage.looks(page, "phone");
  await page.setViewportSize({ width: 360, height: 780 });
  const more = rail(page).getByRole("button", { name: "More" });
  const { x = 0, width = 400 } = (await more.boundingBox()) ?? {};
  expect(x + width).toBeLessThanOrEqual(360);
  await more.click();
  await page.getByRole("menuitem", { name: "Compare" }).waitFor();
  await page.getByRole("menuitem", { name: "Sign out local" }).click();
  await signInHeading(page).waitFor();
});

test("a page whose token is revoked leads to the sign-in without being asked", async ({
  skip,
  stage,
}) => {
  const { token, secret } = await stage.world.client.call("createToken", { label: "short" });
  const { page, guard, context } = await stage.visitor(skip);
  guard.expect(refused);
  const sessions = `${stage.world.api}/api/v1/sessions`;
  await context.request.post(sessions, { data: { token: secret } });
  await page.goto(`${stage.world.api}/experiments`);
  await rail(page).waitFor();
  await stage.world.client.call("revokeToken", { token: token?.id ?? "" });
  await signInHeading(page).waitFor();
  expect(pathOf(page)).toBe("/sign-in");
});

test("the end of a session ends it in every tab", async ({ skip, stage }) => {
  const page = await stage.page(skip, "/experiments");
  stage.guardOf(page).expect(refused);
  await page.getByText("There is no experiment yet.").waitFor();
  const other = await page.context().newPage();
  await other.goto(`${stage.world.api}/tokens`);
  await other.getByRole("button", { name: "Sign out" }).click();
  await signInHeading(other).waitFor();
  await signInHeading(page).waitFor();
  expect(new URL(page.url()).search).toBe("?back=%2Fexperiments");
});

test("a token is created, shown once and revoked", async ({ skip, stage }) => {
  const page = await stage.page(skip, "/tokens");
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByLabel("Label").fill("nightly build");
  await page.getByText("yard token create --ttl 30d --label 'nightly build'").waitFor();
  await stage.looks(page, "token-new");
  await page.getByLabel("Label").focus();
  await page.keyboard.press("Enter");
  const shown = page.getByRole("dialog", { name: "The token" });
  const secret = await shown.locator("code").textContent();
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

test("keys lead to every page, the sheet of keys and the palette", async ({ skip, stage }) => {
  await create(stage, "vgg-palette");
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
  await page.keyboard.type("vgg-pal");
  await page.getByRole("option", { name: /vgg-palette/ }).waitFor();
  await stage.looks(page, "palette");
  await page.getByRole("combobox").fill("compact");
  await page.getByRole("option", { name: "Compact rows" }).waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => new URL(page.url()).search).toBe("?compact=true");
});

test("an address without a page says so", async ({ skip, stage }) => {
  const page = await stage.page(skip, "/no/such/page");
  await page.getByText("There is no page at this address.").waitFor();
  expect(await page.title()).toBe("Not found · Trainyard");
  await stage.looks(page, "not-found");
});

test("a page whose file could not be loaded is loaded again once, then says so", async ({
  skip,
  stage,
}) => {
  const id = await create(stage, "without-a-file");
  const page = await stage.page(skip, `/experiments/${id}`);
  stage.guardOf(page).expect(missing);
  const file = /\/assets\/configuration-tab-.*\.js$/;
  const tab = page.getByRole("tab", { name: "Configuration" });
  const text = page.getByText(/entrypoint: /);
  await page.route(file, (route) => route.abort(), { times: 1 });
  await tab.click();
  await text.waitFor();
  await page.goto(`${stage.world.api}/experiments/${id}`);
  await page.route(file, (route) => route.abort());
  await tab.click();
  await page.getByText("A file of this page could not be loaded.").waitFor();
  await stage.looks(page, "missing-file");
  await page.unroute(file);
  await page.getByRole("button", { name: "Try again" }).click();
  await text.waitFor();
});

test("a page whose code could not be loaded is loaded again once, then says so", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments");
  stage.guardOf(page).expect(missing);
  const loads: string[] = [];
  page.on("request", (request) => {
    if (request.isNavigationRequest()) loads.push(request.url());
  });
  const file = /\/assets\/page-.*\.js$/;
  await page.route(file, (route) => route.abort());
  await rail(page).getByRole("link", { name: "Models" }).click();
  await page.getByText("A file of this page could not be loaded.").waitFor();
  expect(loads).toHaveLength(1);
  await page.unroute(file);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Models", exact: true }).waitFor();
});

test("tabs share one stream, and a lost link is shown until it is there again", async ({
  skip,
  stage,
}) => {
  const id = await create(stage, "followed");
  const page = await stage.page(skip, "/experiments");
  stage.guardOf(page).expect(/Failed to load resource|ERR_/);
  const ownStreams: string[] = [];
  page.context().on("page", (tab) =>
    tab.on("request", (request) => {
      if (request.url().endsWith("/api/v1/watch")) ownStreams.push(request.url());
    }),
  );
  const opened = async (): Promise<Page> => {
    const other = await page.context().newPage();
    await other.goto(page.url());
    return other;
  };
  const tabs = [page, ...(await Promise.all([opened(), opened(), opened()]))];
  for (const tab of tabs) await tab.getByRole("row", { name: "followed" }).waitFor();
  // A killed platform is up again before the outage is long enough to be shown.
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
  // The SharedWorker owns the stream: no tab has one of its own.
  expect(ownStreams).toEqual([]);
});

test("a page says how old its states are while the scheduler does not answer", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/experiments");
  await page.route(/\/api\/v1\/jobs\?/, (route) =>
    route.fulfill({ json: { items: [], schedulerAnsweredAtMs: Date.now() - 180_000 } }),
  );
  await page.reload();
  const note = page.locator("header");
  await note.getByText("The scheduler does not answer").waitFor();
  await note.getByText(/^states as of 3m( \d+s)? ago$/).waitFor();
  await stage.looks(page, "scheduler-away");
  await page.setViewportSize({ width: 360, height: 780 });
  await stage.looks(page, "phone-scheduler-away");
});
