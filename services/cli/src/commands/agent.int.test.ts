/** Tests of the commands about agents, with a gateway that the test simulates. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway, problem } from "../testing/played-gateway.ts";

const gibibyte = 1024 ** 3;

let gateway: PlayedGateway;

const gpu = (id: string, more: object = {}) => ({
  id,
  device: "cuda",
  name: "NVIDIA A100-SXM4-80GB",
  memoryBytes: 80 * gibibyte,
  ...more,
});
const agents = [
  {
    name: "gpus",
    pool: "default",
    state: "CONNECTED",
    labels: { rack: "r1", "gpu.memory": "80" },
    slots: [
      gpu("GPU-aaaaaaaa", { run: "1.1#1" }),
      gpu("GPU-bbbbbbbb"),
      gpu("GPU-cccccccc", { run: "1.2#1", withdrawn: true }),
    ],
  },
  {
    name: "older",
    pool: "default",
    state: "CONNECTED",
    slots: [{ id: "0", device: "cpu" }],
  },
  {
    name: "noisy",
    pool: "default",
    state: "CONNECTED",
    slots: [{ id: "0", device: "cpu" }],
    disabled: {
      state: "DRAINING",
      reason: "loud fan",
      sinceMs: Date.UTC(2026, 0, 2),
      deadlineAtMs: Date.UTC(2026, 0, 2, 1),
    },
    undelivered: { checkpoints: 3, bytes: 12e9, runs: ["1.1#1"] },
    notices: ["process 7 (python) of no run uses GPU-a, which run 1.1#1 has"],
  },
  {
    name: "half",
    pool: "default",
    state: "CONNECTED",
    slots: [
      { id: "0", device: "cpu" },
      {
        id: "1",
        device: "cpu",
        disabled: { state: "DISABLED", sinceMs: Date.UTC(2026, 0, 2) },
      },
    ],
  },
  {
    name: "quiet",
    pool: "default",
    state: "CONNECTED",
    slots: [{ id: "0", device: "cpu" }],
    silence: { reason: "2 of 5 agents fell silent together", untilMs: Date.UTC(2026, 0, 2) },
  },
  {
    name: "boxed",
    pool: "default",
    state: "CONNECTED",
    slots: [{ id: "0", device: "cpu" }],
    processGroups: "container",
    engine: "podman",
    notices: ["the container engine podman has not answered since noon", "memory is left"],
  },
  {
    name: "open",
    pool: "default",
    state: "CONNECTED",
    slots: [{ id: "0", device: "cpu" }],
    processGroups: "parent",
    runsAsRoot: true,
  },
];

beforeEach(async () => {
  gateway = await playGateway(({ call }) => {
    if (call.startsWith("GET /api/v1/agents")) return { body: { items: agents } };
    if (call.includes("/agents/gone")) return problem(404, "agent_unknown", "agent gone: unknown");
    return { body: { position: "7", agent: agents[0] } };
  });
});
afterEach(() => gateway[Symbol.asyncDispose]());

test("the list shows each agent's devices by kind, name and memory, and its disabled state", async () => {
  const { lines } = await gateway.yard("agent", "list");
  expect(lines).toEqual([
    "AGENT POOL STATE SLOTS DEVICES FREE",
    "gpus default CONNECTED 2 2 cuda (NVIDIA A100-SXM4-80GB, 80 GiB) 1",
    "older default CONNECTED 1 1 cpu 1",
    "noisy default CONNECTED 1 1 cpu 0 draining since 2026-01-02 00:00:00, its runs are killed at 2026-01-02 01:00:00: loud fan; 3 checkpoints, 12 GB (1.1#1) not stored yet; process 7 (python) of no run uses GPU-a, which run 1.1#1 has",
    "half default CONNECTED 2 2 cpu 1",
    "quiet default CONNECTED 1 1 cpu 0 does not report (2 of 5 agents fell silent together), and is lost at 2026-01-02 00:00:00",
    "boxed default CONNECTED 1 1 cpu 1 the container engine podman has not answered since noon, and 1 more to look at",
    "open default CONNECTED 1 1 cpu 1 runs as root: see docs/operate/run-users.md",
  ]);
});

test("an agent is described with the name and memory of each slot, and with a run whose slot is withdrawn", async () => {
  const name = "NVIDIA A100-SXM4-80GB";
  const { lines } = await gateway.yard("agent", "describe", "gpus");
  expect(lines).toEqual(
    expect.arrayContaining([
      "labels gpu.memory=80, rack=r1",
      "SLOT DEVICE NAME MEMORY RUN",
      `GPU-aaaaaaaa cuda ${name} 80 GiB 1.1#1`,
      `GPU-bbbbbbbb cuda ${name} 80 GiB`,
      `GPU-cccccccc cuda ${name} 80 GiB 1.2#1 not offered any more: the agent's log says why`,
    ]),
  );
});

test("an agent is described with the checkpoints that are not stored yet", async () => {
  const { lines } = await gateway.yard("agent", "describe", "noisy");
  expect(lines).toContain("not stored yet 3 checkpoints, 12 GB (1.1#1)");
});

test("an agent is described with its notices", async () => {
  const { lines } = await gateway.yard("agent", "describe", "noisy");
  expect(lines).toContain(
    "to look at process 7 (python) of no run uses GPU-a, which run 1.1#1 has",
  );
});

test.each([
  ["boxed", "runs are containers of podman"],
  ["boxed", "processes of a run held by a container"],
  ["boxed", "to look at the container engine podman has not answered since noon"],
  ["open", "runs are processes of the host"],
  ["open", "training code runs as root: see docs/operate/run-users.md"],
])("the description of agent %s has the line %j", async (name, line) => {
  const { lines } = await gateway.yard("agent", "describe", name);
  expect(lines).toContain(line);
});

test("an agent is described with its disabled slots", async () => {
  const { lines } = await gateway.yard("agent", "describe", "half");
  expect(lines.at(-1)).toBe("1 cpu disabled since 2026-01-02 00:00:00");
});

test("an agent or a slot is disabled, drained, enabled and removed, each with an idempotency key", async () => {
  const told = [
    await gateway.yard("agent", "disable", "gpus", "--slot", "GPU-bbbbbbbb", "--reason", "hot"),
    await gateway.yard("agent", "drain", "gpus", "--reason", "update", "--deadline", "15m"),
    await gateway.yard("agent", "drain", "gpus"),
    await gateway.yard("agent", "enable", "gpus"),
    await gateway.yard("agent", "remove", "gpus", "--reason", "sold"),
    await gateway.yard("agent", "remove", "gpus", "--force"),
  ];
  expect(told.map(({ code, err, lines }) => [code, err, ...lines])).toEqual([
    [0, "", "slot GPU-bbbbbbbb of agent gpus is disabled; its runs continue"],
    [0, "", "agent gpus is draining: its runs stop gracefully, and are killed after 15m"],
    [0, "", "agent gpus is draining: its runs stop gracefully"],
    [0, "", "agent gpus is enabled"],
    [0, "", "agent gpus is removed"],
    [0, "", "agent gpus is removed"],
  ]);
  const key = expect.stringMatching(/./);
  expect(gateway.requests).toEqual([
    {
      call: "POST /api/v1/agents/gpus/disable",
      body: { slot: "GPU-bbbbbbbb", reason: "hot" },
      idempotencyKey: key,
    },
    {
      call: "POST /api/v1/agents/gpus/drain",
      body: { reason: "update", deadlineMs: 900_000 },
      idempotencyKey: key,
    },
    { call: "POST /api/v1/agents/gpus/drain", body: {}, idempotencyKey: key },
    { call: "POST /api/v1/agents/gpus/enable", body: {}, idempotencyKey: key },
    { call: "DELETE /api/v1/agents/gpus?reason=sold", body: null, idempotencyKey: key },
    { call: "DELETE /api/v1/agents/gpus?force=true", body: null, idempotencyKey: key },
  ]);
});

test("a change of an agent prints the API's answer with -o json", async () => {
  const { out } = await gateway.yard("agent", "enable", "gpus", "-o", "json");
  expect(JSON.parse(out)).toMatchObject({ position: "7", agent: { name: "gpus" } });
});

test("a wrong deadline or an unknown agent exits with 2 and one sentence", async () => {
  expect(await gateway.yard("agent", "drain", "gpus", "--deadline", "soon")).toMatchObject({
    code: 2,
    err: '--deadline takes seconds or 30m, 12h, 7d, not "soon".\n',
  });
  expect(gateway.requests).toEqual([]);
  expect(await gateway.yard("agent", "disable", "gone")).toMatchObject({
    code: 2,
    err: "Agent gone: unknown.\n",
  });
});
