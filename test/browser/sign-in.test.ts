/** How a person signs in and out, by a link and by a token. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useStage } from "./support/stage.ts";

const stage = useStage();

const pathOf = (page: Page): string => new URL(page.url()).pathname;

/** The frame that pages have for who is signed in. */
const rail = (page: Page) => page.getByRole("navigation", { name: "Pages" });

const signInHeading = (page: Page) => page.getByRole("heading", { name: "Sign in to Trainyard" });

/** The browser says on the console that a call was refused. */
const refused = /401 \(Unauthorized\)/;

test("a link signs in once, and leaves its code in no address", async ({ skip }) => {
  const link = await stage.link();
  const { page, context } = await stage.visitor(skip);
  await page.goto(link);
  await rail(page).waitFor();
  expect(page.url()).not.toContain("code");
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
  expect(await page.evaluate(() => document.cookie)).toBe("");
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toMatch(/ty_|code/);

  const late = await stage.visitor(skip);
  late.guard.expect(refused);
  await late.page.goto(link);
  await late.page.getByRole("alert").filter({ hasText: "used already" }).waitFor();
  expect(await late.context.cookies()).toEqual([]);
});

test("a token signs in and leads to the page that was asked for; a wrong one gets a sentence", async ({
  skip,
}) => {
  const { page, guard } = await stage.visitor(skip);
  guard.expect(refused);
  await page.goto(`${stage.world.api}/experiments`);
  await signInHeading(page).waitFor();
  await stage.looks(page, "sign-in");
  const signIn = async (token: string): Promise<void> => {
    await page.getByLabel("Or a token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  await signIn("ty_wrong");
  await page.getByText(/invalid token/i).waitFor();
  await signIn(stage.world.access.token);
  await rail(page).waitFor();
  expect(pathOf(page)).toBe("/experiments");
});

test("signing out ends the session, also for the way back", async ({ skip }) => {
  const page = await stage.page(skip, "/");
  stage.guardOf(page).expect(refused);
  await page.getByRole("button", { name: "Sign out" }).click();
  await signInHeading(page).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await page.goto(`${stage.world.api}/`);
  await signInHeading(page).waitFor();
});

test("a page whose token is revoked leads to the sign-in without being asked", async ({ skip }) => {
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
