import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { passwordForm } from "./passwords.ts";
import { resetAdmin } from "./reset-admin.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
}, 60_000);
afterAll(() => gateway?.[Symbol.asyncDispose]());

const api = (method: string, path: string, body?: object, token?: null) =>
  gateway.call(method, `/api/v1/${path}`, {
    ...(body === undefined ? {} : { body }),
    ...(token === undefined ? {} : { token }),
  });

/** Runs the program of the gateway with the settings of the test's gateway. */
const run = (...more: readonly string[]) =>
  promisify(execFile)(
    process.execPath,
    [join(import.meta.dirname, "../main.ts"), "gateway", "reset-admin", ...more],
    { env: { ...process.env, ...gateway.environment } },
  ).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );

test("a disabled person becomes an admin who signs in with the printed password, and no other user does", async () => {
  for (const name of ["ada", "bo"]) await api("POST", "users", { name });
  await api("POST", "users/bo/disable", {});
  const done = await run("BO");
  expect(done).toMatchObject({ code: 0, stderr: "" });
  const password = /password (\S+)\n$/.exec(done.stdout)?.[1] ?? "";
  const signIn = { name: "bo", password: passwordForm(password) };
  await expect
    .poll(async () => (await api("POST", "sessions", signIn, null)).status, { timeout: 5_000 })
    .toBe(200);
  const grants = await api("GET", "grants?user=bo");
  expect(grants.body["items"]).toMatchObject([{ role: "cluster-admin", workspace: "" }]);
  const { log } = gateway;
  await using stack = new AsyncDisposableStack();
  const connectionString = gateway.environment["TRAINYARD_POSTGRES_URL"] ?? "";
  const pool = stack.adopt(new pg.Pool({ connectionString }), (opened) => opened.end());
  for (const name of ["nobody", "local"]) {
    expect(await resetAdmin({ pool, log }, name)).toMatchObject({ rejected: "user_not_found" });
  }
});
