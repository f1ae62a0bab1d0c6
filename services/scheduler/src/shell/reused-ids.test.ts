/**
 * A restored log draws the numbers of lost experiments again (docs/operate/backup.md), so a run of the lost history and
 * a run of the new one may have one id. The runs of the lost history are on agents.
 */
import { AllocationReportState } from "@trainyard/contracts/agent";
import { EndReason } from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import { World } from "../testing/world.ts";

const identity = { folder: "f1", place: "p1", startedMs: 1_000 };

/** An agent that comes back after the restore, with a run of the lost history. */
async function returning(world: World) {
  const agent = world.newAgent("a1", 2);
  agent.identity = identity;
  agent.highestEpoch = 40;
  agent.occupy("1.1#1", ["0"]);
  return agent;
}

test("a run that an agent has from a lost history does not count as the new run of its id", async () => {
  await using world = await World.open();
  await world.scheduler();
  await world.run("1.1#1");
  const agent = await returning(world);
  await agent.start();
  await world.advance(5_000);
  expect(world.names("allocation-1.1#1")).toContain("AllocationStarted");
  expect.soft(agent.launched.map(({ allocation }) => allocation)).toEqual(["1.1#1"]);
});

test("the end of a run of a lost history does not end the new run of its id", async () => {
  await using world = await World.open();
  await world.scheduler();
  await world.run("1.1#1");
  const agent = await returning(world);
  agent.tell("1.1#1", {
    state: AllocationReportState.ENDED,
    exit: { nodeRank: 0, agent: "a1", code: 0, signal: "", message: "" },
    endRecord: { reason: EndReason.FINISHED, message: "" },
  });
  await agent.start();
  await world.advance(5_000);
  expect.soft(agent.launched.map(({ allocation }) => allocation)).toEqual(["1.1#1"]);
  expect(world.names("allocation-1.1#1")).not.toContain("AllocationEnded");
});
