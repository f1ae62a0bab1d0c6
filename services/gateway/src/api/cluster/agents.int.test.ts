import type { AnyEvent } from "@trainyard/contracts";
import { AllocationEndCause } from "@trainyard/contracts/events";
import { reject } from "@trainyard/kernel";
import { type CommandTable, commandHandlers, createLogger } from "@trainyard/runtime";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { agentHolder, agentStart } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

const slot = (id: string) => ({ id, device: "cpu", uuid: "", memoryBytes: 0 });
const joined = {
  type: "AgentJoined",
  data: {
    pool: "default",
    slots: [slot("0"), slot("1")],
    labels: {},
    version: "1",
    address: "127.0.0.1",
    ...agentStart,
  },
} as const;
const granted = {
  type: "AllocationGranted",
  data: {
    placements: [{ agent: "rack", nodeRank: 0, slots: ["0"], address: "127.0.0.1" }],
    masterAddress: "127.0.0.1",
    masterPort: 20_000,
    tokenKey: "k1",
    folded: 0,
  },
} as const;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.append("agent-rack", joined);
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

/** Appends an event, and returns the agent of the API once the read model has applied it. */
async function after(stream: string, event: AnyEvent): Promise<object> {
  const position = await gateway.append(stream, event);
  return await vi.waitFor(
    async () => {
      const { body } = await gateway.call("GET", "/api/v1/agents");
      expect(Number(body["position"])).toBeGreaterThanOrEqual(position);
      return (body as unknown as { items: object[] }).items[0] ?? {};
    },
    { timeout: 90_000, interval: 50 },
  );
}

const startedMs = Date.now();

test("an agent shows which run has each slot, until the run has ended", async () => {
  expect(await after("allocation-1.1#1", granted)).toMatchObject({
    name: "rack",
    processGroups: "cgroup",
    slots: [{ id: "0", run: "1.1#1" }, { id: "1" }],
  });
  const left = { allocation: "1.1#1", message: "process 7 is still there" };
  expect(await after("agent-rack", { type: "ProcessesLeft", data: left })).toMatchObject({
    slots: [{ id: "0", run: "1.1#1", left: "process 7 is still there" }, { id: "1" }],
  });
  // The agent's slots have changed, and its run continues.
  const third = { ...joined, data: { ...joined.data, slots: [slot("0"), slot("1"), slot("2")] } };
  expect(await after("agent-rack", third)).toMatchObject({ slots: [{ run: "1.1#1" }, {}, {}] });
  const exit = { nodeRank: 0, agent: "rack", code: 0, signal: "", message: "" };
  const ended = {
    type: "AllocationEnded",
    data: { cause: AllocationEndCause.EXITED, exits: [exit], message: "" },
  } as const;
  const { slots } = (await after("allocation-1.1#1", ended)) as { slots: { run?: string }[] };
  expect(slots.map(({ run = "" }) => run)).toEqual(["", "", ""]);
});

test("slots show name and memory, and a withdrawn slot stays in the list while a run uses it", async () => {
  const gpu = (id: string) => ({ id, device: "cuda", uuid: id, memoryBytes: 85e9, name: "A100" });
  const offer = (...ids: readonly string[]) =>
    ({ ...joined, data: { ...joined.data, slots: ids.map(gpu) } }) as const;
  const told = (id: string, more: object = {}) => ({
    id,
    device: "cuda",
    name: "A100",
    memoryBytes: 85e9,
    run: "",
    left: "",
    ...more,
  });
  const slotsAfter = async (stream: string, event: AnyEvent) =>
    ((await after(stream, event)) as { slots: object[] }).slots;
  const placements = [{ agent: "rack", nodeRank: 0, slots: ["GPU-b"], address: "127.0.0.1" }];
  expect(await slotsAfter("agent-rack", offer("GPU-a", "GPU-b"))).toEqual([
    told("GPU-a"),
    told("GPU-b"),
  ]);
  await after("allocation-2.1#1", { ...granted, data: { ...granted.data, placements } });
  const held = [told("GPU-a"), told("GPU-b", { run: "2.1#1", withdrawn: true })];
  expect(await slotsAfter("agent-rack", offer("GPU-a"))).toMatchObject(held);
  const occupations = [{ allocation: "2.1#1", slots: ["GPU-b"] }];
  const back = { occupations, slots: [gpu("GPU-a")], ...agentHolder };
  const returned = { type: "AgentReturned", data: back } as const;
  expect(await slotsAfter("agent-rack", returned)).toMatchObject(held);
  expect(await slotsAfter("agent-rack", offer("GPU-a", "GPU-b"))).toEqual([
    told("GPU-a"),
    told("GPU-b", { run: "2.1#1" }),
  ]);
  await slotsAfter("agent-rack", offer("GPU-a"));
  const exit = { nodeRank: 0, agent: "rack", code: 0, signal: "", message: "" };
  const data = { cause: AllocationEndCause.EXITED, exits: [exit], message: "" };
  expect(await slotsAfter("allocation-2.1#1", { type: "AllocationEnded", data })).toEqual([
    told("GPU-a"),
  ]);
});

test("an agent shows why it gets no runs", async () => {
  const data = { failures: 3, experiments: ["1", "2"], reason: "no space left", forMs: 60_000 };
  const distrusted = (await after("agent-rack", { type: "AgentDistrusted", data })) as {
    distrust: { untilMs: number };
  };
  expect(distrusted).toMatchObject({
    distrust: { failures: 3, experiments: ["1", "2"], reason: "no space left" },
  });
  expect(distrusted.distrust.untilMs).toBeGreaterThan(startedMs + 59_000);
  const low = { freeBytes: 5 * 1024 * 1024, floorBytes: 256 * 1024 * 1024 };
  expect(await after("agent-rack", { type: "AgentDiskLow", data: low })).toMatchObject({
    notPlaced: "its disk has 5 MB left, and a run needs 256 MB",
  });
  const freed = { type: "AgentDiskFreed", data: { freeBytes: 1e9 } } as const;
  expect((await after("agent-rack", freed)) as { notPlaced?: string }).not.toHaveProperty(
    "notPlaced",
    expect.stringMatching(/./),
  );
  const trusted = { type: "AgentTrusted", data: { reason: "mended" } } as const;
  expect(await after("agent-rack", trusted)).not.toHaveProperty("distrust");
});

test("an agent without a common protocol version shows what to update", async () => {
  const tooNew = { ...joined, data: { ...joined.data, protocol: 9, protocolOldest: 8 } } as const;
  expect(await after("agent-rack", tooNew)).toMatchObject({
    notPlaced: expect.stringMatching(/too new: it needs version 8 .*update the services/),
  });
  const mended = (await after("agent-rack", joined)) as { notPlaced?: string };
  expect(mended.notPlaced ?? "").toBe("");
});

test("agents are listed in pages, each of them once", async () => {
  await gateway.append("agent-second", joined);
  const position = await gateway.append("agent-third", joined);
  const list = async (query: string) =>
    (await gateway.call("GET", `/api/v1/agents?minPosition=${position}${query}`))
      .body as unknown as { items: { name: string }[]; nextPageToken: string };
  const first = await list("&pageSize=2");
  const second = await list(`&pageSize=2&pageToken=${first.nextPageToken}`);
  const names = [...first.items, ...second.items].map(({ name }) => name);
  expect(first.items).toHaveLength(2);
  expect(names.toSorted()).toEqual(["rack", "second", "third"]);
  expect(second.nextPageToken).toBe("");
  expect((await list("")).items.map(({ name }) => name)).toEqual(names);
});

test("the statement that an agent is repaired is sent to the scheduler", async () => {
  const asked: string[] = [];
  const TrustAgent: CommandTable<"scheduler">["TrustAgent"] = async ({ agent }) => {
    asked.push(agent);
    return agent === "rack" ? { position: 1, stream: "agent-rack" } : reject("agent_unknown", "no");
  };
  const logger = createLogger("scheduler", "silent");
  await using _scheduler = await gateway.bus.serve(
    "scheduler",
    commandHandlers("scheduler", { TrustAgent }, logger),
  );
  expect(await gateway.call("POST", "/api/v1/agents/rack/trust", { body: {} })).toMatchObject({
    status: 200,
  });
  expect(asked).toEqual(["rack"]);
  expect(await gateway.call("POST", "/api/v1/agents/nobody/trust", { body: {} })).toMatchObject({
    status: 404,
  });
});

test("an agent shows its labels and its disabled slots", async () => {
  const labels = { rack: "r1", "gpu.memory": "80" };
  const disabled = { slot: "0", reason: "row errors", drain: false };
  await gateway.append("agent-rack", { ...joined, data: { ...joined.data, labels } });
  expect(await after("agent-rack", { type: "SlotDisabled", data: disabled })).toMatchObject({
    labels,
    slots: [{ id: "0", disabled: { state: "DISABLED", reason: "row errors" } }, { id: "1" }],
  });
});

test("agents are disabled, drained, enabled and removed by the scheduler, with the caller's identity", async () => {
  const asked: object[] = [];
  const accepting = { position: 1, stream: "agent-rack" };
  await using _scheduler = await gateway.serving("scheduler", {
    DisableAgent: async (request, { identity }) => {
      asked.push({ ...request, authid: identity.meta.authid });
      if (request.agent !== "rack")
        return reject("agent_unknown", `agent ${request.agent}: unknown`);
      return accepting;
    },
    EnableAgent: async (request) => {
      asked.push(request);
      return accepting;
    },
    RemoveAgent: async (request) => {
      asked.push(request);
      return reject("agent_in_use", "agent rack has 2 runs; drain it first");
    },
  });
  const post = (path: string, body: object) =>
    gateway.call("POST", `/api/v1/agents/${path}`, { body });
  expect(await post("rack/disable", { slot: "1", reason: "hot" })).toMatchObject({
    status: 200,
    body: { agent: { name: "rack" } },
  });
  expect((await post("rack/drain", { reason: "update", deadlineMs: 900_000 })).status).toBe(200);
  expect((await post("rack/enable", {})).status).toBe(200);
  expect(await post("nobody/disable", {})).toMatchObject({
    status: 404,
    body: { detail: "agent nobody: unknown" },
  });
  expect(await gateway.call("DELETE", "/api/v1/agents/rack?reason=sold&force=true")).toMatchObject({
    status: 409,
    body: { detail: "agent rack has 2 runs; drain it first" },
  });
  const authid = expect.stringMatching(/./);
  expect(asked).toEqual([
    { agent: "rack", slot: "1", reason: "hot", drain: false, deadlineMs: 0, authid },
    { agent: "rack", slot: "", reason: "update", drain: true, deadlineMs: 900_000, authid },
    { agent: "rack", slot: "" },
    { agent: "nobody", slot: "", reason: "", drain: false, deadlineMs: 0, authid },
    { agent: "rack", reason: "sold", force: true },
  ]);
});
