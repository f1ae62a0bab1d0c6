/** Signs people in with passwords, at two gateways behind a proxy that names the client's address. */
import { argon2Sync, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { peopleLimits } from "../../people/limits.ts";
import { passwordForm } from "../../people/passwords.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let other: string;
let clients = 0;

/** Returns the address of another client. */
const client = (): string => `203.0.113.${(clients += 1)}`;

beforeAll(async () => {
  gateway = await startTestGateway({ TRAINYARD_TRUSTED_PROXIES: "127.0.0.1" });
  other = await gateway.startAnother();
  for (const name of ["ada", "bo", "cy", "di", "ed", "flo"]) await create({ name });
  await create({ name: "robot", kind: "service", password: "" });
}, 60_000);

afterAll(() => gateway?.[Symbol.asyncDispose]());

const api = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  gateway.call(method, `/api/v1/${path}`, {
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers, token: null }),
  });

const create = ({ name, ...more }: { name: string; [key: string]: string }) =>
  api("POST", "users", { name, password: passwordForm(name), ...more });

type SignIn = { readonly typed?: string; readonly from?: string; readonly at?: string };

async function signIn(name: string, { typed = name, from = client(), at }: SignIn = {}) {
  const answer = await fetch(`${at ?? gateway.url}/api/v1/sessions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": from },
    body: JSON.stringify({ name, password: passwordForm(typed) }),
  });
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const body = (await answer.json()) as Record<string, unknown>;
  const retryAfter = Number(answer.headers.get("retry-after"));
  return { status: answer.status, body, cookie, retryAfter };
}

const inSession = (cookie: string, method: string, path: string, body?: object) =>
  api(method, path, body, { cookie, origin: gateway.url, "sec-fetch-site": "same-origin" });

const rows = async (text: string) => (await gateway.sql(text)).rows as Record<string, unknown>[];

describe("a person signs in", () => {
  test("with name and password, in any case of the name, and the session has its rights", async () => {
    const opened = await signIn("ADA", { typed: "ada" });
    expect(opened).toMatchObject({ status: 200, body: { token: "", label: "", owner: "ada" } });
    const me = await inSession(opened.cookie, "GET", "me");
    expect(me.body).toMatchObject({ token: "", user: { name: "ada", hasPassword: true } });
    expect((await inSession(opened.cookie, "GET", "sessions/current")).body).toMatchObject({
      owner: "ada",
      user: opened.body["user"],
    });
    expect((await inSession(opened.cookie, "POST", "session-codes", {})).status).toBe(403);
    expect((await inSession(opened.cookie, "DELETE", "sessions/current")).status).toBe(200);
    expect((await inSession(opened.cookie, "GET", "me")).status).toBe(401);
  });

  test("a refusal has the same sentence for a wrong password, name or kind, and for a disabled user", async () => {
    await create({ name: "off" });
    await api("POST", "users/off/disable", {});
    const refused = [
      await signIn("ada", { typed: "bo" }),
      await signIn("nobody"),
      await signIn("robot"),
      await signIn("off"),
      await signIn("a\0b"),
    ];
    const details = refused.map(({ status, body }) => [status, body["code"], body["detail"]]);
    expect([...new Set(details.map((one) => JSON.stringify(one)))]).toEqual([
      JSON.stringify([401, "wrong_password", "the name or the password is wrong"]),
    ]);
  });

  test("with one way only, and with a password in the form of clients", async () => {
    const body = { token: gateway.token, name: "ada", password: passwordForm("ada") };
    expect((await api("POST", "sessions", body, {})).status).toBe(400);
    const typed = await api("POST", "sessions", { name: "ada", password: "ada" }, {});
    expect(typed).toMatchObject({ status: 400, body: { code: "invalid_password" } });
  });

  test("a stored hash of lower parameters is replaced", async () => {
    const nonce = randomBytes(16);
    const lower = { memory: 1_024, passes: 1, parallelism: 1, tagLength: 32 };
    const key = argon2Sync("argon2id", { ...lower, nonce, message: passwordForm("bo") });
    const [salt, hash] = [nonce, key].map((one) => one.toString("base64").replace(/=+$/, ""));
    const stored = `$argon2id$v=19$m=1024,t=1,p=1$${salt}$${hash}`;
    await gateway.sql("update gateway.users set password_hash = $1 where name = 'bo'", [stored]);
    expect((await signIn("bo")).status).toBe(200);
    const [row] = await rows("select password_hash from gateway.users where name = 'bo'");
    expect(row?.["password_hash"]).toContain("$m=19456,t=2,p=1$");
    expect((await signIn("bo")).status).toBe(200);
  });
});

describe("wrong passwords", () => {
  test("slow down the account at an address, on all gateways, and nobody else", async () => {
    const from = client();
    for (let i = 0; i < peopleLimits.wrongOfBothFree; i += 1) {
      const at = i % 2 === 0 ? gateway.url : other;
      expect((await signIn("cy", { typed: "guess", from, at })).status).toBe(401);
    }
    const slowed = await signIn("cy", { from, at: other });
    expect(slowed).toMatchObject({ status: 429, body: { code: "too_many_passwords" } });
    expect(slowed.retryAfter).toBe(1);
    expect((await signIn("cy")).status).toBe(200);
    expect((await signIn("di", { from })).status).toBe(200);
    // The longest wait is a quarter of an hour.
    await gateway.sql(
      "update gateway.wrong_passwords set failures = 60 where failures = (select max(failures) from gateway.wrong_passwords)",
    );
    const long = await signIn("cy", { from });
    expect(long.retryAfter).toBeGreaterThan(890);
    expect(long.retryAfter).toBeLessThanOrEqual(900);
    await gateway.sql("delete from gateway.wrong_passwords");
    expect((await signIn("cy", { from })).status).toBe(200);
    expect(await rows("select failures from gateway.wrong_passwords where failures > 0")).toEqual(
      [],
    );
  });

  test("at once do not pass the limit together", async () => {
    const from = client();
    await gateway.sql("delete from gateway.wrong_passwords");
    expect((await signIn("di", { typed: "guess", from })).status).toBe(401);
    // One more try is allowed, and the next one only after four minutes.
    const failures = peopleLimits.wrongOfBothFree + 7;
    await gateway.sql(
      "update gateway.wrong_passwords set failures = $1, last_at = now() - interval '129 seconds'",
      [failures],
    );
    const all = await Promise.all(
      Array.from({ length: peopleLimits.hashesOfOneMax }, () =>
        signIn("di", { typed: "guess", from }),
      ),
    );
    expect(all.filter(({ status }) => status === 401)).toHaveLength(1);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(all.length - 1);
    await gateway.sql("delete from gateway.wrong_passwords");
  });

  test("of an account from everywhere slow down only addresses that were wrong themselves", async () => {
    const from = client();
    expect((await signIn("ed", { typed: "guess", from })).status).toBe(401);
    await gateway.sql("update gateway.wrong_passwords set failures = 100, last_at = now()");
    // All rows have 100 now; the pair and the address of this client are forgotten again, but for one guess.
    const own = client();
    expect((await signIn("ed", { from: own })).status).toBe(200);
    expect((await signIn("ed", { from })).status).toBe(429);
    await gateway.sql("delete from gateway.wrong_passwords");
  });

  test("of an address slow it down for every account", async () => {
    const from = client();
    expect((await signIn("nobody1", { from })).status).toBe(401);
    await gateway.sql("update gateway.wrong_passwords set failures = 105, last_at = now()");
    expect(await signIn("ada", { from })).toMatchObject({ status: 429 });
    expect((await signIn("ada")).status).toBe(200);
    await gateway.sql("delete from gateway.wrong_passwords");
  });

  test("are forgotten one by one, and hold no name and no address", async () => {
    const from = client();
    await signIn("flo", { typed: "guess", from });
    await gateway.sql(
      "update gateway.wrong_passwords set failures = 4, last_at = now() - interval '46 minutes'",
    );
    await signIn("flo", { typed: "guess", from });
    const kept = await rows("select counted, failures from gateway.wrong_passwords");
    expect(kept.map(({ failures }) => failures)).toEqual([2, 2, 2]);
    expect(kept.every(({ counted }) => (counted as Buffer).length === 32)).toBe(true);
  });
});

describe("a new password", () => {
  test("ends the person's other sessions and their streams, and keeps the one that set it", async () => {
    const [mine, old] = [await signIn("flo"), await signIn("flo")];
    const stream = await fetch(`${other}/api/v1/events`, {
      headers: { cookie: old.cookie, accept: "text/event-stream" },
    });
    expect(stream.status).toBe(200);
    const ended = stream.text().catch(() => "cut");
    const wrong = { current: passwordForm("guess"), password: passwordForm("new") };
    expect(await inSession(mine.cookie, "POST", "me/password", wrong)).toMatchObject({
      status: 403,
      body: { code: "wrong_password" },
    });
    const right = { current: passwordForm("flo"), password: passwordForm("new") };
    const changed = await inSession(mine.cookie, "POST", "me/password", right);
    expect(changed).toMatchObject({ status: 200, body: { user: { name: "flo" } } });
    await ended;
    expect((await inSession(old.cookie, "GET", "me")).status).toBe(401);
    expect((await inSession(mine.cookie, "GET", "me")).status).toBe(200);
    expect((await signIn("flo")).status).toBe(401);
    expect((await signIn("flo", { typed: "new" })).status).toBe(200);
  });

  test("of an admin's reset ends all of them", async () => {
    const old = await signIn("ed");
    const { body } = await api("POST", "users/ed/reset", {});
    expect((await inSession(old.cookie, "GET", "me")).status).toBe(401);
    expect((await signIn("ed", { typed: String(body["password"]) })).status).toBe(200);
    expect((await api("POST", "users/robot/reset", {})).body["code"]).toBe("no_password");
  });
});

test("a disabled user's session and streams end at once at every gateway, also when it is enabled again", async () => {
  const opened = await signIn("di");
  const stream = await fetch(`${other}/api/v1/events`, {
    headers: { cookie: opened.cookie, accept: "text/event-stream" },
  });
  const ended = stream.text().catch(() => "cut");
  expect((await api("POST", "users/di/disable", { reason: "left" })).status).toBe(200);
  await ended;
  await api("POST", "users/di/enable", {});
  expect((await inSession(opened.cookie, "GET", "me")).status).toBe(401);
  expect((await signIn("di")).status).toBe(200);
});
