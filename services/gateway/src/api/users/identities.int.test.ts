import { afterAll, beforeAll, expect, test } from "vitest";
import { addUser, openSession, type TestUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

const lab = { issuer: "https://sso.example/realms/lab", subject: "8f2c" };
const guest = { issuer: "https://guests.example", subject: "8f2c" };

let gateway: TestGateway;
let admin: TestUser;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  admin = await addUser(gateway, "ada", { role: "cluster-admin" });
}, 60_000);
afterAll(() => stack.disposeAsync());

const change = (user: string, { token }: TestUser, body: object) =>
  gateway.call("PATCH", `/api/v1/users/${user}`, { token, body });

const seen = async (user: string, { token }: TestUser) =>
  (await gateway.call("GET", `/api/v1/users/${user}`, { token })).body["identities"];

async function statusIn(headers: Readonly<Record<string, string>>): Promise<number> {
  return (await fetch(`${gateway.url}/api/v1/me`, { headers })).status;
}

test("a person sees its identities whole, and others see their issuers", async () => {
  const sue = await addUser(gateway, "sue");
  const tam = await addUser(gateway, "tam");
  expect((await change("sue", admin, { addIdentity: lab })).status).toBe(200);
  expect([await seen("sue", sue), await seen("sue", admin)]).toEqual([[lab], [lab]]);
  expect(await seen("sue", tam)).toEqual([{ ...lab, subject: "" }]);
  expect((await change("sue", tam, { removeIdentity: lab })).body["code"]).toBe("not_allowed");
});

test("a person removes an identity but not the last way to sign in, which ends the other sessions", async () => {
  const uma = await addUser(gateway, "uma");
  const own = { issuer: guest.issuer, subject: "uma" };
  await change("uma", admin, { addIdentity: own });
  const [used, other] = [await openSession(gateway, "uma"), await openSession(gateway, "uma")];
  const remove = { removeIdentity: own };
  expect((await change("uma", uma, remove)).body["code"]).toBe("last_sign_in");
  expect([await statusIn(other), await seen("uma", uma)]).toEqual([200, [own]]);
  await change("uma", admin, { addIdentity: { ...lab, subject: "uma" } });
  const removed = await fetch(`${gateway.url}/api/v1/users/uma`, {
    method: "PATCH",
    headers: { ...used, "content-type": "application/json" },
    body: JSON.stringify(remove),
  });
  expect(removed.status).toBe(200);
  expect(await seen("uma", uma)).toEqual([{ ...lab, subject: "uma" }]);
  expect([await statusIn(used), await statusIn(other)]).toEqual([200, 401]);
  expect((await change("uma", admin, { removeIdentity: { ...lab, subject: "uma" } })).status).toBe(
    200,
  );
});

test("an identity that a user does not have is removed without an effect", async () => {
  await addUser(gateway, "val");
  const session = await openSession(gateway, "val");
  expect((await change("val", admin, { removeIdentity: guest })).status).toBe(200);
  expect(await statusIn(session)).toBe(200);
});
