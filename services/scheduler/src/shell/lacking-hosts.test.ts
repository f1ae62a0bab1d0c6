/** Hosts that lack for good what a configuration names, such as an image that is built on a host. */
import { expect, test } from "vitest";
import { World } from "../testing/world.ts";

const noConstraints = {
  ...{ device: "", deviceMemoryBytes: 0, sameLabel: "" },
  ...{ required: [], preferred: [], forbidden: [] },
};

test("a run is not tried again on a host that lacks something for good, and its end says when no other agent is left", async () => {
  await using world = await World.open();
  await world.scheduler();
  for (const name of ["a1", "a2"]) {
    const agent = await world.agent(name, 1);
    agent.failing = "the image localhost/own:1 is not on this host";
    agent.lacking = true;
    agent.lasting = true;
  }
  const lasting = { lacking: true, lasting: true };
  await world.run("1.1#1");
  const placeOf = (id: string) =>
    world.last(`allocation-${id}`, "AllocationGranted").placements.map(({ agent }) => agent);
  const [first] = placeOf("1.1#1");
  const failure = () => world.last("allocation-1.1#1", "AllocationEnded").launchFailure;
  expect(failure()).toEqual({ agents: [first], silent: [], platformAway: false, ...lasting });
  const constraints = { ...noConstraints, excludedAgents: [first ?? ""] };
  await world.run("1.1#2", { constraints });
  expect(placeOf("1.1#2")).not.toEqual([first]);
  expect(world.last("allocation-1.1#2", "AllocationEnded").launchFailure).toMatchObject({
    ...lasting,
    everywhere: true,
  });
  expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
});
