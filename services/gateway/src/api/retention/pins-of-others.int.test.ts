import { randomUUID } from "node:crypto";
import { reject } from "@trainyard/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created, requested, trialCreated } from "../../testing/example-events.ts";
import { addUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

const checkpoint = randomUUID();

let gateway: TestGateway;
let registry: AsyncDisposable;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.call("POST", "/api/v1/workspaces", { body: { name: "lab" } });
  registry = await gateway.serving("registry", {
    UnpinCheckpoint: async ({ holder }) => reject("reached", holder),
  });
  await gateway.append("experiment-1", created({ workspace: "lab", owner: "user:ow" }));
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  const position = await gateway.append(`checkpoint-${checkpoint}`, {
    type: "CheckpointDeclared",
    data: { trial: "1.1", run: 1, step: 1, format: "" },
  });
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
}, 60_000);

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

test("the pin of another person is removed by those who control the experiment, and by no other editor", async () => {
  const lab = (role: string) => ({ role, workspace: "lab" });
  const owner = await addUser(gateway, "ow", lab("editor"));
  const other = await addUser(gateway, "ed", lab("editor"));
  const admin = await addUser(gateway, "wa", lab("workspace-admin"));
  const unpin = async ({ token }: { readonly token: string }, holder = "") => {
    const path = `/api/v1/checkpoints/${checkpoint}/unpin`;
    const { body } = await gateway.call("POST", path, { token, body: { holder } });
    return body;
  };
  const reached = { code: "reached" };
  expect(await unpin(other)).toMatchObject(reached);
  expect(await unpin(other, "user:ed")).toMatchObject(reached);
  expect(await unpin(owner, "user:ed")).toMatchObject(reached);
  expect(await unpin(admin, "user:ow")).toMatchObject(reached);
  const refused = await unpin(other, "user:ow");
  expect(refused).toMatchObject({ code: "not_allowed" });
  expect(refused["detail"]).toContain("experiment_control");
});
