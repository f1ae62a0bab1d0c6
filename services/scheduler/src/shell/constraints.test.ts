/** Tests of placement by the constraints of runs and the reports of agents. */
import { atRest } from "@trainyard/testing";
import { expect, test } from "vitest";
import type { ScriptedAgent } from "../testing/scripted-agent.ts";
import { World } from "../testing/world.ts";

const nothing = {
  device: "",
  deviceMemoryBytes: 0,
  required: [],
  preferred: [],
  forbidden: [],
  excludedAgents: [],
  sameLabel: "",
};
const gpu = (id: string, gigabytes: number) => {
  return { id, device: "cuda", uuid: id, memoryBytes: gigabytes * 1e9, name: "" };
};

async function labelled(
  world: World,
  name: string,
  slots: number,
  labels: Readonly<Record<string, string>>,
): Promise<ScriptedAgent> {
  const agent = world.newAgent(name, slots);
  agent.labels = labels;
  await agent.start();
  await atRest();
  return agent;
}

const launches = (agent: ScriptedAgent): readonly string[] =>
  agent.launched.map(({ allocation }) => allocation);

test("a run is placed on an agent with its labels, and an agent that starts with other labels joins again", async () => {
  await using world = await World.open();
  await world.scheduler();
  const a = await labelled(world, "a", 4, { zone: "a" });
  const b = await labelled(world, "b", 4, { zone: "b" });
  const inB = { ...nothing, required: [{ label: "zone", values: ["b"] }] };
  await world.run("1.1#1", { slots: 4, constraints: inB });
  await world.run("1.2#1", { slots: 1, constraints: inB });
  await world.run("1.3#1", { slots: 1 });
  expect([launches(a), launches(b)]).toEqual([["1.3#1"], ["1.1#1"]]);

  a.labels = { zone: "b", rack: "1" };
  await world.advance(2_000);
  expect(world.last("agent-a", "AgentJoined").labels).toEqual({ zone: "b", rack: "1" });
  await world.advance(2_000);
  expect(launches(a)).toEqual(["1.3#1", "1.2#1"]);
  world.assertNothingOversubscribed();
});

test("a run gets the devices that it requests, even from the next scheduler", async () => {
  await using world = await World.open();
  const first = await world.scheduler();
  const agent = await world.agent("a", 0);
  agent.offerSlots([gpu("small", 16), gpu("large", 80)]);
  await world.advance(1_000);
  const large = { ...nothing, device: "cuda", deviceMemoryBytes: 80e9 };
  await world.run("1.1#1", { constraints: large });
  await world.run("1.2#1", { constraints: large });
  await world.stop(first);
  await world.scheduler();
  await world.advance(5_000);
  expect(agent.launched.map(({ slots }) => slots)).toEqual([["large"]]);
  agent.end("1.1#1", { code: 0 });
  await world.advance(5_000);
  expect(agent.launched.map(({ slots }) => slots)).toEqual([["large"], ["large"]]);
});
