import type { Plain } from "@trainyard/contracts";
import type { CheckPlace, PlaceCheck } from "@trainyard/contracts/commands";
import type { CommandTable } from "@trainyard/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readModelLimits } from "../../read-model/limits.ts";
import { agentStart } from "../../testing/example-events.ts";
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

beforeAll(async () => {
  gateway = await startTestGateway();
  const position = await gateway.append("agent-rack", joined);
  await gateway.call("GET", `/api/v1/agents?minPosition=${position}`);
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

let asked: Plain<CheckPlace>["resources"];

/** Simulates the scheduler with a fixed answer; it may know an agent that the read model does not. */
async function schedulerAnswers(answer: Plain<PlaceCheck>): Promise<AsyncDisposable> {
  const Check: CommandTable<"scheduler">["CheckPlace"] = async ({ resources }) => {
    asked = resources;
    return answer;
  };
  return gateway.serving("scheduler", { CheckPlace: Check });
}

const possible = { possible: true, detail: "", key: "" };
const impossible = { possible: false, key: "slots_per_trial" };

function validate(resources: Readonly<Record<string, unknown>>, environment = {}) {
  const config = [
    "name: wide",
    `environment: ${JSON.stringify(environment)}`,
    "entrypoint: python3 train.py",
    "searcher: { name: single, metric: loss }",
    `resources: ${JSON.stringify(resources)}`,
  ].join("\n");
  return gateway.call("POST", "/api/v1/experiments", { body: { config, validateOnly: true } });
}

test("a request larger than every agent's slots is refused, with the scheduler's sentence and the key", async () => {
  const detail = "all agents of pool default have 4 slots together, and the run needs 5";
  const refusal = { possible: false, detail, key: "slots_per_trial" };
  await using _scheduler = await schedulerAnswers(refusal);
  expect(await validate({ slots_per_trial: 5 })).toMatchObject({
    status: 400,
    body: {
      code: "too_many_slots",
      detail: `resources.slots_per_trial cannot be satisfied: ${detail}`,
      errors: [{ path: "resources.slots_per_trial", detail: `cannot be satisfied: ${detail}` }],
    },
  });
});

test("a request with constraints is always checked by the scheduler", async () => {
  const detail = "no agent of pool default has 1 cuda slot; the nearest is rack with 2 cpu slots";
  const constraints = { device: "cuda", require: { zone: "a" } };
  await using _scheduler = await schedulerAnswers({ possible: false, detail, key: "constraints" });
  expect(await validate({ constraints })).toMatchObject({
    status: 400,
    body: { code: "no_place", detail: `resources.constraints cannot be satisfied: ${detail}` },
  });
  expect(asked).toMatchObject({
    pool: "default",
    slots: 1,
    constraints: { device: "cuda", required: [{ label: "zone", values: ["a"] }] },
  });
});

test("an unknown pool is refused with the list of pools", async () => {
  const detail = "there is no pool gpu; the pools are default and gpus";
  const refusal = { possible: false, detail, key: "resource_pool" };
  await using _scheduler = await schedulerAnswers(refusal);
  expect(await validate({ resource_pool: "gpu" })).toMatchObject({
    status: 400,
    body: { code: "no_place", detail: `resources.resource_pool cannot be satisfied: ${detail}` },
  });
});

test("an agent that only the scheduler knows counts", async () => {
  await using _scheduler = await schedulerAnswers(possible);
  expect(await validate({ slots_per_trial: 4 })).toMatchObject({ status: 200 });
  expect(asked).toMatchObject({ slots: 4 });
});

test("the slots of several agents are not enough for a run on one agent", async () => {
  const second = await gateway.append("agent-rack2", joined);
  await gateway.call("GET", `/api/v1/agents?minPosition=${second}`);
  await using _scheduler = await schedulerAnswers({ ...impossible, detail: "no agent has 4" });
  expect(await validate({ slots_per_trial: 4 })).toMatchObject({ status: 200 });
  const single = { slots_per_trial: 4, is_single_node: true };
  expect(await validate(single)).toMatchObject({ status: 400 });
  expect(await validate({ ...single, slots_per_trial: 2 })).toMatchObject({ status: 200 });
});

test("every agent of a large pool counts", async () => {
  const agents = readModelLimits.pageSizeMax + 1;
  const doc = JSON.stringify({ name: "", pool: "large", slots: [slot("0")] });
  await gateway.sql(
    `insert into gateway.documents (kind, id, parent, ordinal, doc)
     select 'agent', 'large-' || n, 'large', 7, $2 from generate_series(1, $1::int) as n`,
    [agents, doc],
  );
  // The scheduler refuses the request in this test, so only the count of the read model can accept it.
  await using _scheduler = await schedulerAnswers({ ...impossible, detail: "it is too large" });
  const resource_pool = "large";
  expect(await validate({ slots_per_trial: agents, resource_pool })).toMatchObject({ status: 200 });
  const more = { slots_per_trial: agents + 1, resource_pool };
  expect(await validate(more)).toMatchObject({ status: 400 });
});

test("no request is refused for its resources while the scheduler is unavailable", async () => {
  const constraints = { device: "rocm" };
  expect(await validate({ slots_per_trial: 500, constraints })).toMatchObject({ status: 200 });
});

test("a key for containers has a warning in a pool whose agents run processes, and none where all run containers", async () => {
  await using _scheduler = await schedulerAnswers({ ...possible, key: "" });
  const data = { ...joined.data, pool: "boxes", engine: "podman" };
  const position = await gateway.append("agent-box", { type: "AgentJoined", data });
  await gateway.call("GET", `/api/v1/agents?minPosition=${position}`);
  const warningsIn = async (resource_pool: string): Promise<readonly unknown[]> => {
    const image = { image: "docker.io/library/python:3.12" };
    const { status, body } = await validate({ resource_pool }, image);
    expect(status).toBe(200);
    return body["warnings"] as readonly unknown[];
  };
  const warning = expect.stringContaining("environment.image takes effect") as string;
  expect(await warningsIn("default")).toContainEqual(warning);
  expect(await warningsIn("boxes")).not.toContainEqual(warning);
  expect(await warningsIn("empty")).toContainEqual(warning);
});
