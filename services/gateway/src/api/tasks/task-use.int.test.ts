import { Duplex } from "node:stream";
import { TaskOutcome } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { dialWebSocket, serveTunnel, tunnelLink } from "@trainyard/tunnel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requested, taskCreated } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
const stack = new AsyncDisposableStack();
const over = { outcome: TaskOutcome.FAILED, reason: "exit code 3", restarts: 0, exitCode: 3 };
const ended = { type: "TaskEnded", data: over } as const;

const reach = async (position: number): Promise<void> => {
  await gateway.call("GET", `/api/v1/tasks?minPosition=${position}`);
};

const granted = {
  type: "AllocationGranted",
  data: {
    placements: [{ agent: "rack", nodeRank: 0, slots: ["0"], address: "" }],
    ...{ masterAddress: "", masterPort: 1, tokenKey: "1", folded: 0 },
  },
} as const;
const use = async (task: string) => {
  const { status, body } = await gateway.call("GET", `/api/v1/tasks/${task}/use`);
  return status === 200 ? body : [status, body["detail"]];
};
let document = JSON.stringify({ ready: true, idleSeconds: 7, folderFiles: 3 });

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  const at = await gateway.append("task-t920", taskCreated(), requested(1, 0));
  const position = await gateway.append("allocation-t920#1", granted);
  await reach(Math.max(at, position));
  const link = await dialWebSocket(`${gateway.url}/api/v1/runs/t920%231/tunnel`, {
    ...tunnelLink,
    clock: systemClock,
    headers: { authorization: `Bearer ${await gateway.runToken("t920#1", position)}` },
  });
  const agent = serveTunnel(link, async (name) => {
    expect(name).toBe("use");
    return Duplex.from([Buffer.from(document)]);
  });
  stack.defer(agent.close);
});

test("the use of a task is what its agent says at this moment", async () => {
  await expect.poll(() => use("t920")).toMatchObject({ ready: true, idleSeconds: 7 });
  expect(await use("t920")).toEqual({
    ...{ ready: true, inUse: false, idleSeconds: 7, idleTimeoutSeconds: 0, notice: "" },
    folderFiles: 3,
  });
});

test("the use of a task is unknown while the agent answers something else, or while nothing runs", async () => {
  for (document of ["<html>", `"${"x".repeat(20_000)}"`]) {
    expect(await use("t920")).toEqual([503, "the agent of task t920 does not answer"]);
  }
  await gateway.append("task-t921", taskCreated());
  await reach(await gateway.append("task-t922", taskCreated(), ended));
  expect(await use("t921")).toEqual([503, "t921 is queued"]);
  expect(await use("t922")).toEqual([410, "t922 has ended: exit code 3"]);
});
afterAll(() => stack.disposeAsync());
