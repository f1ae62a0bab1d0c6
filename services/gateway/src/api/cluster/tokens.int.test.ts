import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addToken, addUser, openSession, type TestUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let ada: TestUser;
let bo: TestUser;
/** The headers of a session of bo. */
let session: Readonly<Record<string, string>>;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.call("POST", "/api/v1/workspaces", { body: { name: "Vision" } });
  await gateway.call("POST", "/api/v1/workspaces", { body: { name: "hidden" } });
  await gateway.call("POST", "/api/v1/workspaces", { body: { name: "old" } });
  await gateway.call("POST", "/api/v1/workspaces/old/archive", { body: {} });
  const everybody = await gateway.call("POST", "/api/v1/tokens", { body: { label: "earlier" } });
  expect(everybody.status).toBe(200);
  expect((await gateway.call("GET", "/api/v1/tokens")).body["items"]).toHaveLength(2);
  ada = await addUser(gateway, "ada", { role: "cluster-admin" });
  bo = await addUser(
    gateway,
    "bo",
    { role: "editor", workspace: "Vision" },
    { role: "viewer", workspace: "old" },
  );
  session = await openSession(gateway, bo.id);
  await gateway.sql(
    "insert into gateway.users (id, name, name_key, kind) values ('c1', 'Robot', 'robot', 'service')",
  );
  await gateway.append("user-c1", {
    type: "UserCreated",
    data: { kind: "service", by: "user:ada" },
  });
}, 60_000);

afterAll(() => gateway[Symbol.asyncDispose]());

type Made = { readonly id: string; readonly owner: string; readonly expiresAtMs?: number };

const asSession = () => ({ token: null, headers: session });
const as = ({ token }: Pick<TestUser, "token">) => ({ token });

async function create(
  body: Readonly<Record<string, unknown>>,
  caller: { readonly token: string | null; readonly headers?: Readonly<Record<string, string>> },
) {
  const answer = await gateway.call("POST", "/api/v1/tokens", { body, ...caller });
  return {
    status: answer.status,
    detail: answer.body["detail"],
    made: answer.body["token"] as Made & Readonly<Record<string, unknown>>,
    secret: answer.body["secret"] as string,
  };
}

const idsOf = async (caller: object, query = ""): Promise<readonly string[]> =>
  ((await gateway.call("GET", `/api/v1/tokens${query}`, caller)).body["items"] as Made[]).map(
    ({ id }) => id,
  );

describe("a token", () => {
  test("that a person makes in a session is the person's, has no ancestors and need not expire", async () => {
    const { status, made, secret } = await create({ label: "mine" }, asSession());
    expect(status).toBe(200);
    expect(made.owner).toBe("bo");
    expect(made.expiresAtMs).toBeUndefined();
    const [event] = await gateway.log.read(`token-${made.id}`, 0, 1);
    expect(JSON.stringify(event)).toContain("user:bo");
    expect((await gateway.call("GET", "/api/v1/workspaces/Vision", { token: secret })).status).toBe(
      200,
    );
  });

  test("is limited to a role and to workspaces, first by its own limit and then by its creator's", async () => {
    const limited = await create({ role: "editor", workspaces: ["vision", "VISION"] }, as(ada));
    expect(limited.made).toMatchObject({ owner: "ada", role: "editor", workspaces: ["Vision"] });
    const child = await create({ role: "viewer" }, { token: limited.secret });
    expect(child.made).toMatchObject({ role: "viewer", workspaces: [] });
    const get = (path: string) => gateway.call("GET", path, { token: child.secret });
    expect((await get("/api/v1/workspaces/vision")).status).toBe(200);
    expect((await get("/api/v1/workspaces/hidden")).status).toBe(404);
    const grandchild = await create({}, { token: child.secret });
    expect(grandchild.made).toMatchObject({ role: "viewer", workspaces: [] });
    const body = { description: "changed" };
    const change = await gateway.call("PATCH", "/api/v1/workspaces/vision", {
      body,
      token: grandchild.secret,
    });
    expect(change.status).toBe(403);
  });

  test.each([
    ["an unknown role", { role: "boss" }, 404, /^there is no role "boss": the roles are viewer/],
    ["an unknown workspace", { workspaces: ["nope"] }, 404, /^there is no workspace "nope"/],
    ["a hidden workspace", { workspaces: ["hidden"] }, 404, /^there is no workspace "hidden"/],
    ["an archived workspace", { workspaces: ["old"] }, 409, /"old" is archived: unarchive it/],
    ["a service account", { user: "robot" }, 403, /user_admin everywhere/],
  ])("with %s is refused in a sentence", async (_what, body, status, detail) => {
    const answer = await create(body, as(bo));
    expect(answer).toMatchObject({ status });
    expect(answer.detail).toMatch(detail);
  });

  test("of a service account is made by an admin, who names no person and no unknown user", async () => {
    const robot = await create({ user: "ROBOT", role: "viewer" }, as(ada));
    expect(robot.made).toMatchObject({ owner: "Robot", role: "viewer" });
    expect((await create({ user: "c1" }, as(ada))).made.owner).toBe("Robot");
    expect(await create({ user: "bo" }, as(ada))).toMatchObject({ status: 409 });
    expect(await create({ user: "nobody" }, as(ada))).toMatchObject({ status: 404 });
  });

  test("is listed for its owner, and for admins who ask for all", async () => {
    const { made } = await create({ label: "listed" }, as(bo));
    expect(await idsOf(as(bo))).toContain(made.id);
    expect(await idsOf(asSession())).toContain(made.id);
    expect(await idsOf(as(ada))).not.toContain(made.id);
    expect(await idsOf(as(ada), "?all=true")).toContain(made.id);
    const all = await gateway.call("GET", "/api/v1/tokens?all=true", as(bo));
    expect(all).toMatchObject({ status: 403, body: { code: "not_allowed" } });
  });

  test("is revoked by its owner and by admins; for others it is not there", async () => {
    const [mine, hers] = [await create({}, asSession()), await create({}, as(ada))];
    const revoke = (id: string, caller: object) =>
      gateway.call("DELETE", `/api/v1/tokens/${id}`, caller);
    const [others, none] = [await revoke(hers.made.id, as(bo)), await revoke("0f", as(bo))];
    expect(others.status).toBe(404);
    expect(JSON.stringify(others.body).replaceAll(hers.made.id, "0f")).toBe(
      JSON.stringify(none.body),
    );
    expect((await revoke(mine.made.id, asSession())).status).toBe(200);
    const again = await create({}, as(bo));
    expect((await revoke(again.made.id, as(ada))).status).toBe(200);
  });

  test("that is limited revokes itself and what was made with it, and no other token of its owner", async () => {
    const limited = {
      token: await addToken(gateway, "user:bo", [{ role: "viewer", workspaces: [] }]),
    };
    const [own, other] = [await create({}, limited), await create({}, as(bo))];
    const revoke = (id: string) => gateway.call("DELETE", `/api/v1/tokens/${id}`, limited);
    expect((await revoke(other.made.id)).status).toBe(404);
    expect((await revoke(own.made.id)).status).toBe(200);
  });

  test("shows the minute of its last use", async () => {
    const { made, secret } = await create({}, as(bo));
    const lastUse = async () => {
      const { body } = await gateway.call("GET", "/api/v1/tokens", as(bo));
      const items = body["items"] as { id: string; lastUsedAtMs?: number }[];
      return items.find(({ id }) => id === made.id)?.lastUsedAtMs;
    };
    expect(await lastUse()).toBeUndefined();
    await gateway.call("GET", "/api/v1/workspaces", { token: secret });
    await expect.poll(lastUse, { timeout: 10_000 }).toBeGreaterThan(Date.now() - 180_000);
    expect(((await lastUse()) ?? 1) % 60_000).toBe(0);
  });
});
