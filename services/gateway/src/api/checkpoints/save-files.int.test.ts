import { randomUUID } from "node:crypto";
import type { AnyEvent } from "@trainyard/contracts";
import { reject } from "@trainyard/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created, requested, taskCreated, trialCreated } from "../../testing/example-events.ts";
import { addToken, addUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

const [saved, versioned, trained] = [randomUUID(), randomUUID(), randomUUID()];

const file = { path: ".netrc", bytes: 3, sha256: "0".repeat(64), partSha256: [], md5: "" };

let gateway: TestGateway;
let registry: AsyncDisposable;

const declared = (maker: { readonly trial: string; readonly task?: string }): AnyEvent => ({
  type: "CheckpointDeclared",
  data: { ...maker, run: 1, step: 1, format: "" },
});

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.call("POST", "/api/v1/workspaces", { body: { name: "lab" } });
  registry = await gateway.serving("registry", {
    PlanCheckpointDownload: async ({ checkpoint }) => ({
      ...{ checkpoint, path: "", store: "s3://a/b", manifest: [file] },
    }),
    PlanFiles: async () => ({ files: [] }),
    RegisterVersion: async () => reject("reached", ""),
  });
  await gateway.append("experiment-1", created({ workspace: "lab", owner: "user:ow" }));
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  const task = taskCreated({ kind: "notebook", owner: "user:ow", workspace: "lab", tokenId: "" });
  await gateway.append("task-t1", task, requested(1, 0));
  await gateway.append(`checkpoint-${trained}`, declared({ trial: "1.1" }));
  await gateway.append(`checkpoint-${saved}`, declared({ trial: "", task: "t1" }), {
    type: "CheckpointCompleted",
    data: {
      trial: "",
      task: "t1",
      run: 1,
      step: 1,
      files: 1,
      bytes: 3,
      manifestDigest: "0".repeat(64),
    },
  });
  const by = "user:ow";
  await gateway.append("model-mine", {
    type: "ModelCreated",
    data: { description: "", notes: "", labels: [], workspace: "lab", by },
  });
  const position = await gateway.append(
    `checkpoint-${versioned}`,
    declared({ trial: "", task: "t1" }),
    {
      type: "CheckpointPinned",
      data: { holder: "model-version:mine/1" },
    } as AnyEvent,
  );
  await gateway.call("GET", `/api/v1/tasks?minPosition=${position}`);
}, 60_000);

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

/** Returns the answers to the calls that give the files of a checkpoint away. */
async function reading(token: string, checkpoint: string): Promise<readonly unknown[]> {
  const of = `/api/v1/checkpoints/${checkpoint}`;
  const answers = [
    await gateway.call("GET", `${of}/plan`, { token }),
    await gateway.call("POST", `${of}/files`, { token, body: { paths: [".netrc"] } }),
    await gateway.call("GET", `${of}/archive`, { token }),
    await gateway.call("POST", "/api/v1/models/mine/versions", { token, body: { checkpoint } }),
  ];
  return answers.map(({ status, body }) => (status === 403 ? body["code"] : "read"));
}

const all = (answer: string): readonly string[] => Array.from({ length: 4 }, () => answer);

test("the folder of a task is read by its owner, by those who control all tasks there, and by nobody else", async () => {
  const owner = await addUser(gateway, "ow", { role: "editor", workspace: "lab" });
  const admin = await addUser(gateway, "wa", { role: "workspace-admin", workspace: "lab" });
  const other = await addUser(gateway, "ed", { role: "editor", workspace: "lab" });
  expect(await reading(owner.token, saved)).toEqual(all("read"));
  expect(await reading(admin.token, saved)).toEqual(all("read"));
  expect(await reading(other.token, saved)).toEqual(all("not_allowed"));
  expect(await reading(other.token, trained)).toEqual(all("read"));
  // The list of saves, and what a version gives away, are for all who see them.
  expect((await gateway.call("GET", "/api/v1/tasks/t1/checkpoints", other)).status).toBe(200);
  const shownTo = async ({ token }: { readonly token: string }) =>
    (await gateway.call("GET", `/api/v1/checkpoints/${saved}`, { token })).body["manifest"];
  expect([await shownTo(owner), await shownTo(other)]).toMatchObject([[file], []]);
  expect((await reading(other.token, versioned)).slice(0, 3)).toEqual(all("read").slice(0, 3));
});

test("a limited token reads no folder of a task that its owner started without it", async () => {
  const token = await addToken(gateway, "user:ow", [{ role: "editor", workspaces: ["lab"] }]);
  expect(await reading(token, saved)).toEqual(all("not_allowed"));
  expect(await reading(token, trained)).toEqual(all("read"));
});
