import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { addToken, addUser, type TestUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let viewer: TestUser;
let editor: TestUser;
let admin: TestUser;
let stranger: TestUser;

beforeAll(async () => {
  gateway = await startTestGateway();
  const position = await gateway.append(
    "experiment-1",
    created({ name: "hidden", workspace: "vision" }),
  );
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  admin = await addUser(gateway, "ada", { role: "cluster-admin" });
  viewer = await addUser(gateway, "vi", { role: "viewer", workspace: "vision" });
  editor = await addUser(gateway, "ed", { role: "editor", workspace: "vision" });
  stranger = await addUser(gateway, "sy", { role: "editor", workspace: "default" });
}, 60_000);

afterAll(() => gateway[Symbol.asyncDispose]());

const get = ({ token }: Pick<TestUser, "token">, path: string) =>
  gateway.call("GET", path, { token });

describe("the guard", () => {
  test("an object that the caller may not see is answered as if it were not there", async () => {
    const hidden = await get(stranger, "/api/v1/experiments/1");
    const none = await get(stranger, "/api/v1/experiments/9");
    expect(hidden.status).toBe(404);
    expect(JSON.stringify(hidden.body).replaceAll("1", "9")).toBe(
      JSON.stringify(none.body).replaceAll("1", "9"),
    );
    expect((await get(viewer, "/api/v1/experiments/1")).status).toBe(200);
    expect((await get(admin, "/api/v1/experiments/9")).body).toMatchObject({
      code: "experiment_not_found",
    });
  });

  test("a change that the caller may not make is refused with the permission's name", async () => {
    const answer = await gateway.call("PATCH", "/api/v1/experiments/1", {
      body: { name: "mine" },
      token: viewer.token,
    });
    expect(answer).toMatchObject({ status: 403, body: { code: "not_allowed" } });
    expect(answer.body["detail"]).toContain('experiment_edit in the workspace "vision"');
    const kill = await gateway.call("POST", "/api/v1/experiments/1/kill", {
      body: {},
      token: editor.token,
    });
    expect(kill.body["detail"]).toContain("experiment_control");
  });

  test("an editor changes the words of another's experiment, and neither its retention nor its place in the queue", async () => {
    const change = async (body: object, { token } = editor) => {
      const { status, body: answer } = await gateway.call("PATCH", "/api/v1/experiments/1", {
        body,
        token,
      });
      return status === 403 ? String(answer["detail"]) : status;
    };
    // No service answers here: what the guard lets pass is answered with 503.
    expect(await change({ name: "ours" })).toBe(503);
    for (const part of [{ gcPolicy: { saveTrialBest: 0 } }, { priority: 1 }, { maxSlots: 1 }]) {
      expect(await change(part)).toContain("experiment_control");
      expect(await change(part, admin)).toBe(503);
    }
  });

  test("a folder that a person uploaded is read by it, and changed only with the permission somewhere", async () => {
    const checkpoint = "bbbbbbbb-0000-4000-8000-000000000001";
    const of = { trial: "", run: 0, step: 0 };
    const position = await gateway.append(
      `checkpoint-${checkpoint}`,
      { type: "CheckpointDeclared", data: { ...of, format: "", uploadedBy: "user:ed" } },
      {
        type: "CheckpointCompleted",
        data: { ...of, files: 1, bytes: 3, manifestDigest: "0".repeat(64) },
      },
    );
    const path = `/api/v1/checkpoints/${checkpoint}`;
    await get(admin, `/api/v1/tokens?minPosition=${position}`);
    const token = await addToken(gateway, "user:ed", [{ role: "viewer", workspaces: [] }]);
    // No registry answers here: what the guard lets pass is answered with 503.
    expect((await get({ token }, path)).status).toBe(503);
    const remove = (by: string) => gateway.call("POST", `${path}/delete`, { body: {}, token: by });
    expect(await remove(token)).toMatchObject({ status: 403, body: { code: "not_allowed" } });
    expect((await remove(stranger.token)).status).toBe(404);
    expect((await remove(editor.token)).status).toBe(503);
  });

  test("a call of the cluster needs its permission everywhere", async () => {
    expect((await get(editor, "/api/v1/log:anchor")).body["detail"]).toContain(
      "cluster_admin everywhere",
    );
    expect((await get(admin, "/api/v1/log:anchor")).status).toBe(200);
  });

  test("a limited token does less than its owner", async () => {
    const limits = [{ role: "viewer", workspaces: ["vision"] }];
    const token = await addToken(gateway, `user:${admin.id}`, limits);
    expect((await get({ token }, "/api/v1/experiments/1")).status).toBe(200);
    expect((await get({ token }, "/api/v1/log:anchor")).status).toBe(403);
  });

  test("a disabled user's tokens fail", async () => {
    const gone = await addUser(gateway, "go", { role: "viewer", workspace: "vision" });
    expect((await get(gone, "/api/v1/experiments/1")).status).toBe(200);
    await gateway.append(`user-${gone.id}`, {
      type: "UserDisabled",
      data: { reason: "", by: "user:ada" },
    });
    await expect
      .poll(async () => (await get(gone, "/api/v1/experiments/1")).body["code"])
      .toBe("user_disabled");
  });
});
