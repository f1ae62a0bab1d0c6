/** The door of the pages: how a browser signs in and out, and what it is served. */
import { expect, test } from "vitest";
import { useStage } from "./support/stage.ts";

const stage = useStage();

test("a page is served under a policy with a nonce, at every address", async ({ skip }) => {
  const page = await stage.page(skip, "/");
  const answer = await page.goto(`${stage.world.api}/experiments?sort=name`);
  const { "content-security-policy": policy = "" } = answer?.headers() ?? {};
  expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'nonce-[\w-]{22}'; /);
  expect(new URL(page.url()).pathname).toBe("/experiments");
  await page.getByRole("main").waitFor();
});

test("a script that did not come with the page does not run, and fails a test that does not expect it", async ({
  skip,
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
