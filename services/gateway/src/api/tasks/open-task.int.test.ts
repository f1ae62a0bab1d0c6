import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { taskCreated } from "../../testing/example-events.ts";
import { addToken, addUser, openSession, type TestUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let owner: TestUser;
let other: TestUser;
let admin: TestUser;
let stranger: TestUser;

beforeAll(async () => {
  gateway = await startTestGateway();
  const position = await gateway.append(
    "task-t1",
    taskCreated({ kind: "notebook", owner: "user:ow", workspace: "lab", tokenId: "" }),
  );
  await gateway.call("GET", `/api/v1/tasks?minPosition=${position}`);
  expect((await openBy({ token: gateway.token })).status).toBe(200);
  admin = await addUser(gateway, "ada", { role: "cluster-admin" });
  owner = await addUser(gateway, "ow", { role: "editor", workspace: "lab" });
  other = await addUser(gateway, "ot", { role: "workspace-admin", workspace: "lab" });
  stranger = await addUser(gateway, "sy");
}, 60_000);

afterAll(() => gateway[Symbol.asyncDispose]());

type As = { readonly token: string | null; readonly headers?: Readonly<Record<string, string>> };

const openBy = (as: As, task = "t1") =>
  gateway.call("POST", `/api/v1/tasks/${task}/sessions`, { body: { port: 0 }, ...as });

/** Asks for a WebSocket. Returns the status of the refusal. */
async function upgradeBy({ token }: Pick<TestUser, "token">, path: string): Promise<number> {
  const headers = { connection: "upgrade", upgrade: "websocket", authorization: `Bearer ${token}` };
  const key = { "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-version": "13" };
  return new Promise((resolve, reject) => {
    const asked = request(`${gateway.url}${path}`, { headers: { ...headers, ...key } });
    asked.once("response", ({ statusCode = 0 }) => resolve(statusCode));
    asked.once("upgrade", (_answer, socket) => resolve((socket.destroy(), 101)));
    asked.once("error", reject).end();
  });
}

/** Opens the page of the task by a code, and returns a reader of its host. */
async function pageOf(url: string) {
  const { host, hash } = new URL(url);
  const ask = (method: string, path: string, headers: object, body = "") =>
    new Promise<{ status: number; text: string; cookie: string }>((resolve, reject) => {
      const asked = request(`${gateway.url}${path}`, { method, headers: { host, ...headers } });
      asked.once("response", (answer) => {
        const cookie = (answer.headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "";
        const pieces: Buffer[] = [];
        answer.on("data", (piece: Buffer) => pieces.push(piece));
        answer.once("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            text: Buffer.concat(pieces).toString(),
            cookie,
          }),
        );
      });
      asked.once("error", reject).end(body);
    });
  const code = hash.slice("#code=".length);
  const path = `${new URL(url).pathname.replace(/open$/, "")}session`;
  const { status, cookie } = await ask("POST", path, { origin: `http://${host}` }, code);
  expect(status).toBe(204);
  return () => ask("GET", "/", { cookie });
}

test("a task is opened by its owner only; for callers who do not see it, it is not there", async () => {
  expect((await openBy(owner)).status).toBe(200);
  for (const user of [other, admin]) {
    expect(await openBy(user)).toMatchObject({ status: 403, body: { code: "not_your_task" } });
  }
  const [hidden, none] = [await openBy(stranger), await openBy(stranger, "t9")];
  expect(hidden.status).toBe(404);
  expect(JSON.stringify(hidden.body).replaceAll("t1", "t9")).toBe(JSON.stringify(none.body));
});

test("a task's terminal, ports and page streams are its owner's only", async () => {
  for (const stream of ["terminal", "8080", "page"]) {
    const path = `/api/v1/tasks/t1/streams/${stream}`;
    expect(await upgradeBy(other, path), stream).toBe(403);
    expect(await upgradeBy(stranger, path), stream).toBe(404);
    expect(await upgradeBy(owner, path), stream).toBe(stream === "page" ? 101 : 503);
  }
});

test("a limited token opens no task that its owner started without it", async () => {
  const token = await addToken(gateway, "user:ow", [{ role: "viewer", workspaces: [] }]);
  expect(await openBy({ token })).toMatchObject({ status: 403, body: { code: "not_your_task" } });
  expect(await upgradeBy({ token }, "/api/v1/tasks/t1/streams/terminal")).toBe(403);
  const [, tokenId = ""] = token.split("_");
  const started = taskCreated({ kind: "notebook", owner: "user:ow", workspace: "lab", tokenId });
  const position = await gateway.append("task-t2", started);
  await gateway.call("GET", `/api/v1/tasks?minPosition=${position}`);
  expect((await openBy({ token }, "t2")).status).toBe(200);
});

test("a page ends with the session of an identity provider that opened it, also while it is used", async () => {
  const session = { token: null, headers: await openSession(gateway, owner.id) };
  const read = await pageOf(String((await openBy(session)).body["url"]));
  expect((await read()).text).toContain("task_not_running");
  await gateway.sql("update gateway.sessions set ends_at = now() where user_id = $1", [owner.id]);
  await expect.poll(async () => (await read()).status, { timeout: 5_000 }).toBe(401);
});

test("a person's session without a token opens the page, until the person loses the task or is disabled", async () => {
  const session = { token: null, headers: await openSession(gateway, owner.id) };
  const opened = await openBy(session);
  expect(opened.status).toBe(200);
  const read = await pageOf(String(opened.body["url"]));
  // The owner is admitted: the task has no run that could answer.
  expect((await read()).text).toContain("task_not_running");
  await gateway.append("user-ow", {
    type: "UserDisabled",
    data: { reason: "", by: "user:ada" },
  });
  await expect.poll(async () => (await read()).status, { timeout: 5_000 }).toBe(401);
});
