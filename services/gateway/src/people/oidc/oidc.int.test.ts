import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accessId, evolveAccess, noAccess } from "@trainyard/access";
import { decodeEvent } from "@trainyard/contracts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { browserOf, type ShownSession, TestBrowser, textOf } from "../../testing/browser.ts";
import {
  clientSecret,
  startIdentityProvider,
  type TestProvider,
} from "../../testing/identity-provider.ts";
import { addToken, addUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let staff: TestProvider;
let guests: TestProvider;
const stack = new AsyncDisposableStack();

const callbackOf = (id: string): string => `${gateway.url}/auth/oidc/${id}/callback`;
const startOf = (id: string): string => `${gateway.url}/auth/oidc/${id}`;

beforeAll(async () => {
  staff = stack.use(await startIdentityProvider());
  guests = stack.use(await startIdentityProvider());
  const folder = await mkdtemp(join(tmpdir(), "trainyard-oidc-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const secretFile = join(folder, "secret");
  await writeFile(secretFile, `${clientSecret}\n`);
  const client = { client_id: "trainyard", client_secret_file: secretFile };
  const creating = { create_users_claim: "roles", create_users_value: "trains" };
  gateway = stack.use(
    await startTestGateway({
      TRAINYARD_OIDC_PROVIDERS: JSON.stringify([
        {
          id: "staff",
          name: "Staff",
          issuer: staff.issuer,
          ...client,
          ...creating,
          groups_claim: "groups",
        },
        { id: "guests", name: "Guests", issuer: guests.issuer, ...client, ...creating },
      ]),
    }),
  );
  staff.open([callbackOf("staff")]);
  guests.open([callbackOf("guests")]);
  await addUser(gateway, "ada", { role: "cluster-admin" });
});

afterAll(() => stack.disposeAsync());

beforeEach(() => {
  for (const provider of [staff, guests]) {
    provider.alter = (claims) => claims;
    provider.forges = false;
    provider.isAway = false;
  }
});

const as = (sub: string, claims: Record<string, unknown> = {}): void => {
  staff.person = { sub, claims: { preferred_username: sub, roles: ["trains"], ...claims } };
};

/** Signs in at the provider, up to the callback. Returns its address. */
const toCallback = (browser: TestBrowser, id = "staff", query = ""): Promise<string> =>
  browser.follow(`${startOf(id)}${query}`, "/callback?");

/** Signs in. Returns the answer to the callback. */
async function signIn(browser = new TestBrowser(), id = "staff", query = ""): Promise<Response> {
  return browser.visit(await toCallback(browser, id, query));
}

const sessionOf = (browser: TestBrowser): Promise<ShownSession> => browser.session(gateway.url);

const signedIn = (user: string, ageMinutes = 0): Promise<TestBrowser> =>
  browserOf(gateway, user, ageMinutes);

test("a first sign-in makes a user with the claimed name, and opens the page that was wanted", async () => {
  as("bo", { preferred_username: "Bo Ek", email: "bo@example.net", email_verified: true });
  const browser = new TestBrowser();
  const answer = await signIn(browser, "staff", "?page=/experiments/12");
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/experiments/12"]);
  expect(await sessionOf(browser)).toMatchObject({ status: 200, owner: "BoEk", token: "" });
  const { rows } = await gateway.sql(
    "select email, password_hash from gateway.users where name = 'BoEk'",
  );
  expect(rows).toEqual([{ email: "bo@example.net", password_hash: null }]);
});

test("a later sign-in is the same user, also with another name and address", async () => {
  as("cy");
  const first = new TestBrowser();
  await signIn(first);
  as("cy", { preferred_username: "ada", email: "ada@example.net" });
  const second = new TestBrowser();
  await signIn(second);
  expect((await sessionOf(second)).user).toBe((await sessionOf(first)).user);
});

test("an identity takes no user over by its name, like an id or not, or its unverified address", async () => {
  await gateway.sql("update gateway.users set email = 'ada@example.net' where id = 'ada'");
  as("eve", { preferred_username: "ADA", email: "ada@example.net", email_verified: false });
  const browser = new TestBrowser();
  await signIn(browser);
  expect(await sessionOf(browser)).toMatchObject({ status: 200, owner: "ADA2" });
  const { rows } = await gateway.sql("select email from gateway.users where name = 'ADA2'");
  expect(rows).toEqual([{ email: "" }]);
  as("gus", { preferred_username: "0A1b2c3d4e5f" });
  const other = new TestBrowser();
  await signIn(other);
  expect(await sessionOf(other)).toMatchObject({ owner: "0A1b2c3d4e5f2" });
});

test("two issuers with one subject are two users", async () => {
  as("dan");
  guests.person = staff.person;
  const [one, other] = [new TestBrowser(), new TestBrowser()];
  await signIn(one);
  await signIn(other, "guests");
  const users = [await sessionOf(one), await sessionOf(other)];
  expect(users.map(({ owner }) => owner)).toEqual(["dan", "dan2"]);
});

test("without the claim that creates users, an unknown identity is refused", async () => {
  as("fay", { roles: ["other"] });
  const browser = new TestBrowser();
  const answer = await signIn(browser);
  expect(answer.status).toBe(403);
  expect(await textOf(answer)).toContain("No user of this cluster has your identity of Staff");
  expect((await sessionOf(browser)).status).toBe(401);
});

test("a new signing key counts at the next sign-in", async () => {
  as("gil");
  await signIn();
  staff.open([callbackOf("staff")]);
  expect((await signIn()).status).toBe(303);
});

test("an ID token for another client is refused, and one with a wrong signature", async () => {
  as("hal");
  staff.alter = (claims) => ({ ...claims, aud: "another" });
  const answer = await signIn();
  expect(answer.status).toBe(403);
  expect(await textOf(answer)).toMatch(/^The sign-in by Staff was refused \(\w+\); begin again\.$/);
  staff.alter = (claims) => ({ ...claims, iss: guests.issuer });
  expect((await signIn()).status).toBe(403);
  staff.alter = (claims) => ({ ...claims, nonce: "another" });
  expect((await signIn()).status).toBe(403);
  staff.alter = (claims) => claims;
  staff.forges = true;
  expect((await signIn()).status).toBe(403);
});

test("a callback works once, and only in the browser in which the sign-in began", async () => {
  as("ida");
  const [own, other] = [new TestBrowser(), new TestBrowser()];
  const callback = await toCallback(own);
  const elsewhere = await other.visit(callback);
  expect([elsewhere.status, (await sessionOf(other)).status]).toEqual([400, 401]);
  expect((await own.visit(callback)).status).toBe(303);
  expect((await own.visit(callback)).status).toBe(400);
});

test("the code of one sign-in does not end another one", async () => {
  as("jo");
  const browser = new TestBrowser();
  const [first, second] = [await toCallback(browser), await toCallback(browser)];
  const mixed = new URL(first);
  mixed.searchParams.set("code", new URL(second).searchParams.get("code") ?? "");
  expect((await browser.visit(mixed.href)).status).toBe(403);
  expect((await signIn(browser, "guests", "")).status).toBe(303);
});

test("clocks may differ by a minute, and not by ten", async () => {
  as("kim");
  const later = (seconds: number) => (claims: Record<string, unknown>) => ({
    ...claims,
    iat: Number(claims["iat"]) + seconds,
    exp: Number(claims["iat"]) + seconds + 30,
  });
  for (const [seconds, status] of [
    [60, 303],
    [-60, 303],
    [600, 403],
    [-600, 403],
  ] as const) {
    staff.alter = later(seconds);
    expect((await signIn()).status).toBe(status);
  }
});

test("while the provider is away a sign-in ends in one sentence, and sessions continue", async () => {
  as("lee");
  const browser = new TestBrowser();
  await signIn(browser);
  const waiting = new TestBrowser();
  const callback = await toCallback(waiting);
  staff.isAway = true;
  const answer = await waiting.visit(callback);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await textOf(answer)).toBe("Staff does not answer now; try again later.");
  expect((await sessionOf(browser)).status).toBe(200);
});

test("a disabled user cannot sign in", async () => {
  as("mo");
  const browser = new TestBrowser();
  await signIn(browser);
  const { user } = await sessionOf(browser);
  await gateway.append(`user-${String(user)}`, {
    type: "UserDisabled",
    data: { reason: "", by: "user:ada" },
  });
  await expect.poll(async () => (await sessionOf(browser)).status).toBe(401);
  const answer = await signIn();
  expect(await textOf(answer)).toBe("This user is disabled: ask an admin.");
});

/** Returns the names of the groups of a user, from the log. */
async function groupsOf(user: string): Promise<string[]> {
  const events = await gateway.log.read(`access-${accessId}`, 0, 1_000);
  const { groups } = events.map(decodeEvent).reduce(evolveAccess, noAccess);
  const own = [...groups.values()].filter(({ members }) => members.has(user));
  return own.map(({ name }) => name).toSorted();
}

test("groups of the claim are replaced at each sign-in, and groups made by hand stay", async () => {
  await gateway.append("access-cluster", {
    type: "GroupCreated",
    data: { group: "g1", name: "board", fromClaim: false, by: "" },
  });
  as("ned", { groups: ["physics", "Board", "everyone", "x".repeat(101)] });
  const browser = new TestBrowser();
  await signIn(browser);
  const user = String((await sessionOf(browser)).user);
  expect(await groupsOf(user)).toEqual(["physics"]);
  await gateway.append("access-cluster", {
    type: "GroupMembersChanged",
    data: { group: "g1", joined: [user], left: [], by: "user:ada" },
  });
  as("ned", { groups: ["chemistry"] });
  await signIn();
  expect(await groupsOf(user)).toEqual(["board", "chemistry"]);
  as("ned");
  await signIn();
  expect(await groupsOf(user)).toEqual(["board"]);
});

test("a claim of groups that is no list of names, or too long, refuses the sign-in in one sentence", async () => {
  const many = Array.from({ length: 10_000 }, (_, at) => `g${at}`);
  for (const [groups, sentence] of [
    ["physics", "The claim groups is no list of names of groups."],
    [[1], "The claim groups is no list of names of groups."],
    [many, "The claim groups names 10000 groups; the maximum is 200."],
  ] as const) {
    as("ora", { groups });
    const answer = await signIn();
    expect([answer.status, await textOf(answer)]).toEqual([403, sentence]);
  }
});

test("a session of a provider ends after 24 hours, also while it is used", async () => {
  as("pam");
  const browser = new TestBrowser();
  await signIn(browser);
  const { user } = await sessionOf(browser);
  const { rows } = await gateway.sql(
    "select extract(epoch from ends_at - opened_at)::int / 3600 as hours from gateway.sessions where user_id = $1",
    [user],
  );
  expect(rows).toEqual([{ hours: 24 }]);
  await gateway.sql(
    "update gateway.sessions set ends_at = now() + interval '1 hour' where user_id = $1",
    [user],
  );
  const endsInMs = Number((await sessionOf(browser)).expiresAtMs) - Date.now();
  expect(Math.round(endsInMs / 600_000)).toBe(6);
  await gateway.sql("update gateway.sessions set ends_at = now() where user_id = $1", [user]);
  expect((await sessionOf(browser)).status).toBe(401);
});

/** Begins to join at a provider, and returns the path of the confirmation. */
async function toConfirmation(browser: TestBrowser): Promise<string> {
  const callback = await browser.follow(`${startOf("staff")}/join?page=/account`, "/callback?");
  const page = await (await browser.visit(callback)).text();
  return /action="([^"]+)"/.exec(page)?.[1] ?? page;
}

const confirming = {
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded" },
};

test("a signed-in person joins an identity, after a confirmation on a page of the gateway", async () => {
  as("ada-of-staff", { roles: [] });
  const browser = await signedIn("ada");
  const path = await toConfirmation(browser);
  const other = new TestBrowser();
  expect((await signIn(other)).status).toBe(403);
  const headers = { ...confirming.headers, origin: gateway.url };
  const foreign = { ...confirming.headers, origin: "https://evil.example" };
  expect(
    (await browser.visit(`${gateway.url}${path}`, { ...confirming, headers: foreign })).status,
  ).toBe(403);
  const answer = await browser.visit(`${gateway.url}${path}`, { ...confirming, headers });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/account"]);
  await signIn(other);
  expect(await sessionOf(other)).toMatchObject({ user: "ada", owner: "ada" });
});

test("only a person who has just signed in joins an identity, and none that another user has", async () => {
  const { status } = await new TestBrowser().visit(`${startOf("staff")}/join`);
  expect(status).toBe(401);
  const old = await (await signedIn("ada", 11)).visit(`${startOf("staff")}/join`);
  expect([old.status, await textOf(old)]).toEqual([
    403,
    "Sign in with your name, and add the other sign-in within 10 minutes.",
  ]);
  const byLink = { headers: { "sec-fetch-site": "cross-site" } };
  expect((await (await signedIn("ada")).visit(`${startOf("staff")}/join`, byLink)).status).toBe(
    403,
  );
  as("quin");
  await signIn();
  const browser = await signedIn("ada");
  const path = await toConfirmation(browser);
  const headers = { ...confirming.headers, origin: gateway.url };
  const answer = await browser.visit(`${gateway.url}${path}`, { ...confirming, headers });
  expect(await textOf(answer)).toBe("This identity belongs to another user.");
});

test("behind TLS the cookie of a sign-in is one that no other host can set", async () => {
  const headers = { "x-forwarded-proto": "https" };
  const answer = await new TestBrowser().visit(startOf("staff"), { headers });
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^__Host-trainyard_oidc_.*; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    ),
  ]);
  const url = new URL(answer.headers.get("location") ?? "");
  expect(url.searchParams.get("redirect_uri")).toMatch(/^https:.*\/auth\/oidc\/staff\/callback$/);
  expect(url.searchParams.get("code_challenge_method")).toBe("S256");
});

test("an unknown provider, and an error of the provider, are one sentence each", async () => {
  const unknown = await new TestBrowser().visit(startOf("other"));
  expect(unknown.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect([unknown.status, await textOf(unknown)]).toEqual([
    404,
    "This cluster has no identity provider of this name.",
  ]);
  const browser = new TestBrowser();
  const callback = new URL(await toCallback(browser));
  callback.searchParams.delete("code");
  callback.searchParams.set("error", "access_denied");
  expect(await textOf(await browser.visit(callback.href))).toBe(
    "The sign-in by Staff was refused (access_denied); begin again.",
  );
});

test("an admin adds an identity to a user and removes it, which ends the user's sessions", async () => {
  const ada = await addToken(gateway, "user:ada");
  const rex = await addUser(gateway, "rex");
  const identity = { issuer: staff.issuer, subject: "rex-of-staff" };
  const change = (user: string, token: string, body: object) =>
    gateway.call("PATCH", `/api/v1/users/${user}`, { token, body });
  expect((await change("rex", rex.token, { addIdentity: identity })).status).toBe(403);
  expect((await change("rex", ada, { addIdentity: identity })).status).toBe(200);
  const taken = await change("ada", ada, { addIdentity: identity });
  expect([taken.status, taken.body["code"]]).toEqual([409, "identity_taken"]);
  for (const wrong of [
    { ...identity, subject: "" },
    { ...identity, subject: "a\0b" },
  ]) {
    expect((await change("rex", ada, { addIdentity: wrong })).status).toBe(400);
  }
  as("rex-of-staff", { roles: [] });
  const browser = new TestBrowser();
  await signIn(browser);
  expect(await sessionOf(browser)).toMatchObject({ status: 200, user: "rex" });
  expect((await change("rex", ada, { removeIdentity: identity })).status).toBe(200);
  await expect.poll(async () => (await sessionOf(browser)).status).toBe(401);
  expect((await signIn(browser)).status).toBe(403);
});

test("the version names the ways to sign in", async () => {
  const { body } = await gateway.call("GET", "/api/v1/version", { token: null });
  expect(body["signIn"]).toEqual({
    passwords: true,
    providers: [
      { name: "Staff", path: "/auth/oidc/staff" },
      { name: "Guests", path: "/auth/oidc/guests" },
    ],
  });
});
