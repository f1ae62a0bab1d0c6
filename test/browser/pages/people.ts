/** Tests of the pages of users. They run last, since a cluster that has users keeps them. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { test } from "../support/stage.ts";

/** The browser's console messages about refused calls. */
const refused = /401 \(Unauthorized\)/;

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
}

test("the first user is created on a page, signs in with the password, and confirms the sign-in of a program", async ({
  skip,
  stage,
}) => {
  const { client, api } = stage.world;
  const admin = await stage.page(skip, "/users");
  await admin.getByText("This cluster has no users").waitFor();
  await admin.getByRole("button", { name: "Create the first user" }).click();
  await admin.getByLabel("Name", { exact: true }).fill("Ada");
  await admin.keyboard.press("Enter");
  const shown = admin.getByRole("dialog", { name: "The password of Ada" });
  const password = (await shown.locator("code").textContent()) ?? "";
  await admin.getByRole("button", { name: "Done" }).click();
  await admin.getByRole("row", { name: /^Ada / }).waitFor();
  await stage.looks(admin, "users");
  const { code, secret } = await client.call("startDeviceLogin", { program: "yard on laptop" });
  const { page, guard } = await stage.visitor(skip);
  guard.expect(refused);
  await page.goto(`${api}/device?code=${code}`);
  await signIn(page, "ada", "wrong");
  await page.getByText("The name or the password is wrong.").waitFor();
  await signIn(page, "ada", password);
  await page.getByText("yard on laptop").waitFor();
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("yard on laptop is signed in.").waitFor();
  expect(await client.call("finishDeviceLogin", { secret })).toMatchObject({ user: "Ada" });
  await page.goto(`${api}/account`);
  await page.getByRole("row", { name: /^cluster-admin everywhere/ }).waitFor();
  await stage.looks(page, "account");
});

test("a person sees the sign-ins of identity providers, removes one, and begins to add another", async ({
  skip,
  stage,
}) => {
  const { client, api } = stage.world;
  const { password } = await client.call("createUser", { name: "dee" });
  const issuer = "https://sso.example/realms/lab";
  const identity = { issuer, subject: "8f2c-dee" };
  await client.call("updateUser", { user: "dee", addIdentity: identity });
  const { page, guard } = await stage.visitor(skip);
  guard.expect(refused);
  const providers = [{ name: "Keycloak", path: "/auth/oidc/keycloak" }];
  await page.route("**/api/v1/version", async (route) => {
    const body = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...body, signIn: { passwords: true, providers } } });
  });
  await page.goto(`${api}/account`);
  await signIn(page, "dee", password);
  const link = page.getByRole("link", { name: "Add a sign-in by Keycloak" });
  expect(await link.getAttribute("href")).toBe("/auth/oidc/keycloak/join?page=/account");
  await page.getByRole("row", { name: /8f2c-dee/ }).scrollIntoViewIfNeeded();
  await stage.looks(page, "account-sign-ins");
  await page.getByRole("button", { name: `Remove the sign-in by ${issuer}` }).click();
  await page.getByText("You sign in by your password only.").waitFor();
  expect((await client.call("getUser", { user: "dee" })).identities).toEqual([]);
});

test("a role of a workspace is given and taken in the tree, and pages leave out what a user may not do", async ({
  skip,
  stage,
}) => {
  const { client, api } = stage.world;
  await client.call("createWorkspace", { name: "shared-vision" });
  const { password } = await client.call("createUser", { name: "bo" });
  const admin = await stage.page(skip, "/users?tab=roles");
  await admin.getByRole("row", { name: /^restricted-editor / }).waitFor();
  await stage.looks(admin, "roles");
  await admin.goto(`${api}/experiments`);
  const tree = admin.getByRole("navigation", { name: "Workspaces and projects" });
  await tree.getByRole("button", { name: "shared-vision", exact: true }).hover();
  await admin.getByRole("button", { name: "More of workspace shared-vision" }).click();
  await admin.getByRole("menuitem", { name: "Members" }).click();
  const members = admin.getByRole("dialog", { name: "Members of shared-vision" });
  await members.getByLabel("Who").fill("bo");
  await members.getByRole("button", { name: "Give" }).click();
  await members.getByRole("row", { name: /^bo viewer/ }).waitFor();
  await stage.looks(admin, "members");
  const { page, guard } = await stage.visitor(skip);
  guard.expect(refused);
  await page.goto(`${api}/experiments`);
  await signIn(page, "bo", password);
  const seen = page.getByRole("navigation", { name: "Workspaces and projects" });
  await seen.getByRole("button", { name: "shared-vision", exact: true }).waitFor();
  expect(await seen.getByRole("button", { name: "New workspace" }).count()).toBe(0);
  await members.getByRole("button", { name: "Take the role viewer from bo" }).click();
  await members.getByText("Nobody has a role in shared-vision.").waitFor();
});
