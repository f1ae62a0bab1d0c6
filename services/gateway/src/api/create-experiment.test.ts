import { GetPoolCapacitySchema, PoolCapacitySchema } from "@trainyard/contracts/commands";
import { command, commandHandlers, createLogger } from "@trainyard/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gatewayLimits } from "../limits.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

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
  },
} as const;

beforeAll(async () => {
  gateway = await startTestGateway();
  const position = await gateway.append("agent-rack", joined);
  await gateway.call("GET", `/api/v1/agents?minPosition=${position}`);
}, 60_000);
afterAll(() => gateway?.[Symbol.asyncDispose]());

/** Stands in for the scheduler, which knows of an agent more than the read model. */
async function schedulerKnows(slotsEver: number): Promise<AsyncDisposable> {
  const GetPoolCapacity = command(GetPoolCapacitySchema, PoolCapacitySchema, async () => {
    return { pool: "default", slotsEver, slotsOfLargest: 2, agentsKnown: 2, agentsPresent: 2 };
  });
  const logger = createLogger("scheduler", "silent");
  return gateway.bus.serve("scheduler", commandHandlers("scheduler", { GetPoolCapacity }, logger));
}

function validate(slots: number, pool = "default") {
  const config = [
    "name: wide",
    "entrypoint: python3 train.py",
    "searcher: { name: single, metric: loss }",
    `resources: { slots_per_trial: ${slots}, resource_pool: ${pool} }`,
  ].join("\n");
  return gateway.call("POST", "/api/v1/experiments", { body: { config, validateOnly: true } });
}

test("more slots than the pool has are refused, with what it has", async () => {
  await using _scheduler = await schedulerKnows(4);
  expect(await validate(5)).toMatchObject({
    status: 400,
    body: {
      detail:
        "resources.slots_per_trial asks for 5 slots a trial, and all agents of the pool have 4 together",
    },
  });
});

test("an agent that the read model has not seen yet counts", async () => {
  await using _scheduler = await schedulerKnows(4);
  expect(await validate(4)).toMatchObject({ status: 200 });
});

test("every agent of a large pool counts", async () => {
  const agents = gatewayLimits.pageSizeMax + 1;
  const doc = JSON.stringify({ name: "", pool: "large", slots: [slot("0")] });
  await gateway.sql(
    `insert into gateway.documents (kind, id, parent, ordinal, doc)
     select 'agent', 'large-' || n, 'large', 7, $2 from generate_series(1, $1::int) as n`,
    [agents, doc],
  );
  // The scheduler knows less, so that only the read model's own count can accept.
  await using _scheduler = await schedulerKnows(2);
  expect(await validate(agents, "large")).toMatchObject({ status: 200 });
  expect(await validate(agents + 1, "large")).toMatchObject({ status: 400 });
});

test("while the scheduler is away nothing is refused for its size", async () => {
  expect(await validate(5)).toMatchObject({ status: 200 });
});
