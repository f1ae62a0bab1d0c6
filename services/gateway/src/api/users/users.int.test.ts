import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { passwordForm } from "../../people/passwords.ts";
import { addUser, type TestUser } from "../../testing/people.ts";
import { type CallAnswer, startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
}, 60_000);

afterAll(() => gateway?.[Symbol.asyncDispose]());

const api = (method: string, path: string, body?: object, token?: string) =>
  gateway.call(method, `/api/v1/${path}`, {
    ...(body === undefined ? {} : { body }),
    ...(token === undefined ? {} : { token }),
  });

const create = (name: string, more: object = {}) =>
  api("POST", "users", { name, password: passwordForm(name), ...more });

/** Returns the workspaces whose creator a filter names. */
async function madeBy(name: string): Promise<readonly unknown[]> {
  const filter = encodeURIComponent(`created_by = ${name} and name = old`);
  const { body } = await api("GET", `workspaces?filter=${filter}`);
  return (body["items"] as { createdBy: string }[]).map(({ createdBy }) => createdBy);
}

const userIn = ({ body }: CallAnswer) => body["user"] as Readonly<Record<string, unknown>>;

describe("a cluster without users", () => {
  test("says so to its token, which may do everything, and changes no roles", async () => {
    const me = await api("GET", "me");
    expect(me.body).toMatchObject({ hasUsers: false, workspaces: [], roles: [] });
    expect(me.body["permissions"]).toContain("cluster_admin");
    expect((await api("GET", "users")).body["items"]).toEqual([]);
    expect(await api("POST", "groups", { name: "team" })).toMatchObject({
      status: 409,
      body: { code: "no_users" },
    });
    expect(await create("robot", { kind: "service", password: "" })).toMatchObject({
      status: 409,
      body: { code: "no_users" },
    });
    expect((await api("GET", "users")).body["items"]).toEqual([]);
  });
});

describe("an object from before the first person", () => {
  test("is owned by local, which is no user yet", async () => {
    expect((await api("POST", "workspaces", { name: "old" })).status).toBe(200);
    expect(await madeBy("local")).toEqual(["local"]);
    expect((await api("GET", "sessions/current")).body["owner"]).toBe("local");
    expect((await api("GET", "users/local")).status).toBe(404);
  });
});

describe("the first person", () => {
  test("becomes the admin, and the tokens of before belong to the service account local", async () => {
    const made = await create("Ada", { displayName: "Ada Lovelace", email: "ada@example.org" });
    expect(made).toMatchObject({ status: 200, body: { password: "" } });
    expect(userIn(made)).toMatchObject({ name: "Ada", kind: "person", hasPassword: true });
    const me = await api("GET", "me");
    expect(me.body).toMatchObject({
      hasUsers: true,
      user: { id: "local", name: "local", kind: "service" },
      roles: [
        { role: "cluster-admin", workspace: "", group: "" },
        { role: "editor", workspace: "default", group: "everyone" },
      ],
    });
    const { body } = await api("GET", "users");
    const items = body["items"] as { name: string; kind: string }[];
    expect(items.map(({ name, kind }) => [name, kind])).toEqual([
      ["Ada", "person"],
      ["local", "service"],
    ]);
    const events = await gateway.log.read(`user-${String(userIn(made)["id"])}`, 0, 10);
    expect(
      JSON.stringify(events.map(({ body: bytes }) => Buffer.from(bytes).toString())),
    ).not.toMatch(/ada/i);
  });
});

describe("a user", () => {
  test("of the name admin owns nothing from before the first user", async () => {
    expect((await create("admin")).status).toBe(200);
    expect(await madeBy("admin")).toEqual([]);
    expect(await madeBy("local")).toEqual(["local"]);
    const tokens = (await api("GET", "tokens?all=true")).body["items"] as { owner: string }[];
    expect(new Set(tokens.map(({ owner }) => owner))).toEqual(new Set(["local"]));
  });

  test("has no name that may be another user's id, which calls name alike", async () => {
    expect(await create("0A1b2c3d4e5f")).toMatchObject({
      status: 400,
      body: { code: "invalid_request", detail: expect.stringContaining("12 hexadecimal digits") },
    });
  });

  test("has a name that is unique in upper and lower case, and a random password without one of its own", async () => {
    const made = await create("cy", { password: "" });
    expect(made.body["password"]).toMatch(/^\w{5}-\w{5}-\w{5}-\w{5}$/);
    expect(await create("CY")).toMatchObject({
      status: 409,
      body: { code: "user_exists", detail: 'there is a user "cy" already' },
    });
    expect((await create("aDA")).status).toBe(409);
    expect((await create("Local")).status).toBe(409);
    expect((await api("GET", "users/CY")).body).toMatchObject({ name: "cy" });
  });

  test("of one name is created once by several requests, and its row is that of the request that won", async () => {
    const answers = await Promise.all(
      ["a", "b", "c"].map((of) => create("race", { displayName: of })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const won = answers.find(({ status }) => status === 200);
    expect((await api("GET", "users/race")).body).toEqual(won && userIn(won));
  });

  test("of a creation that was cut off after its row is none, and is created by a repeat of the name", async () => {
    await gateway.sql(
      "insert into gateway.users (id, name, name_key, kind) values ('cut', 'Cut', 'cut', 'person')",
    );
    expect(await api("GET", "users/cut")).toMatchObject({
      status: 404,
      body: { code: "user_not_found", detail: 'there is no user "cut"' },
    });
    expect(JSON.stringify((await api("GET", "users")).body)).not.toContain("Cut");
    const made = await create("cut", { displayName: "whole" });
    expect(userIn(made)).toMatchObject({ id: "cut", name: "cut", displayName: "whole" });
  });

  test("is created once by a repeat with the same Idempotency-Key, whose answer says that a password was lost", async () => {
    const headers = { "idempotency-key": "once" };
    const make = () => gateway.call("POST", "/api/v1/users", { body: { name: "once" }, headers });
    expect((await make()).status).toBe(200);
    expect(await make()).toMatchObject({ status: 409, body: { code: "user_exists" } });
    expect((await make()).body["detail"]).toContain("reset the password");
  });

  test("never gets the row of another one that is renamed at the same time", async () => {
    for (let round = 0; round < 5; round += 1) {
      const [old, next] = [`old${round}`, `next${round}`];
      const { id } = userIn(await create(old, { displayName: "old" }));
      const [renamed, made] = await Promise.all([
        api("PATCH", `users/${old}`, { name: next }),
        create(next, { kind: "service", password: "" }),
      ]);
      expect([renamed?.status, made?.status].toSorted()).toEqual([200, 409]);
      expect((await api("GET", `users/${String(id)}`)).body).toMatchObject({
        ...{ kind: "person", displayName: "old", hasPassword: true },
      });
    }
  });

  test("is a cluster admin from the begin if an admin says so", async () => {
    await create("boss", { admin: true });
    const { body } = await api("GET", "grants?user=boss");
    expect(body["items"]).toMatchObject([{ role: "cluster-admin", user: "boss", workspace: "" }]);
  });

  test("of one name is refused to many requests at once without taking all connections", async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => create("crowd", { kind: "service", password: "" })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("is listed by pages and by the begin of a name", async () => {
    await create("dan");
    await create("dora");
    const first = await api("GET", "users?prefix=D&pageSize=1");
    const second = await api(
      "GET",
      `users?prefix=D&pageSize=1&pageToken=${String(first.body["nextPageToken"])}`,
    );
    const names = [first, second].flatMap(({ body }) =>
      (body["items"] as { name: string }[]).map(({ name }) => name),
    );
    expect(names).toEqual(["dan", "dora"]);
    expect(second.body["nextPageToken"]).toBe("");
  });

  test("changes its own display name and address, and only admins change names and see addresses", async () => {
    const ed = await addUser(gateway, "ed");
    const mine = await api("PATCH", "users/ed", { displayName: "Ed", email: "ed@x.org" }, ed.token);
    expect(userIn(mine)).toMatchObject({ displayName: "Ed", email: "ed@x.org" });
    for (const [path, body] of [
      ["users/ed", { name: "eddy" }],
      ["users/ada", { displayName: "no" }],
    ] as const) {
      expect(await api("PATCH", path, body, ed.token)).toMatchObject({
        status: 403,
        body: { code: "not_allowed" },
      });
    }
    expect((await api("GET", "users/ada", undefined, ed.token)).body).toMatchObject({ email: "" });
    expect((await api("GET", "users/ada")).body).toMatchObject({ email: "ada@example.org" });
    expect(userIn(await api("PATCH", "users/ed", { name: "Eddy" }))).toMatchObject({
      name: "Eddy",
    });
    expect((await api("PATCH", "users/eddy", { name: "ADA" })).status).toBe(409);
    expect(await api("PATCH", "users/local", { name: "old" })).toMatchObject({
      status: 409,
      body: { code: "built_in", detail: expect.stringContaining("local keeps its name") },
    });
    expect((await api("POST", "users", { name: "ed2" }, ed.token)).status).toBe(403);
  });

  test("that is disabled fails with its tokens at once, and is enabled with them again", async () => {
    const gone: TestUser = await addUser(gateway, "gone");
    const disabled = await api("POST", "users/gone/disable", { reason: "left" });
    expect(userIn(disabled)).toMatchObject({ disabled: true });
    expect((await api("GET", "me", undefined, gone.token)).body["code"]).toBe("user_disabled");
    expect((await api("POST", "users/gone/disable", {})).status).toBe(200);
    await api("POST", "users/gone/enable", {});
    expect((await api("GET", "me", undefined, gone.token)).status).toBe(200);
  });

  test.each<[string, object, number, string]>([
    ["a name with spaces", { name: "a b" }, 400, "1 to 100 letters"],
    ["an empty name", { name: "" }, 400, "1 to 100 letters"],
    ["the name ..", { name: ".." }, 400, "begins with a letter or a digit"],
    ["the name of an option", { name: "-x" }, 400, "begins with a letter or a digit"],
    ["a long name", { name: "x".repeat(101) }, 400, "1 to 100 letters"],
    ["another kind", { name: "x", kind: "robot" }, 400, "person or service"],
    ["a typed password", { name: "x", password: "hunter2" }, 400, "128 hexadecimal digits"],
    ["a password of 1 MB", { name: "x", password: "a".repeat(1_000_000) }, 413, "larger than"],
    ["a service with a password", { name: "x", kind: "service" }, 400, "has no password"],
    ["two lines", { name: "x", displayName: "a\nb" }, 400, "one line"],
    ["no address", { name: "x", email: "nobody" }, 400, "name@host"],
  ])("with %s is refused in a sentence", async (_what, body, status, detail) => {
    const refused = await create("x", body);
    expect(refused.status).toBe(status);
    expect(refused.body["detail"]).toContain(detail);
  });
});

describe("a name of nobody", () => {
  test.each([
    ["GET", "users/nobody"],
    ["PATCH", "users/nobody"],
    ["POST", "users/nobody/disable"],
    ["POST", "users/nobody/enable"],
    ["POST", "users/nobody/reset"],
  ])("%s %s answers 404", async (method, path) => {
    expect(await api(method, path, method === "GET" ? undefined : {})).toMatchObject({
      status: 404,
      body: { code: "user_not_found" },
    });
  });
});
