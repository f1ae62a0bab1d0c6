/**
 * A restored log draws the numbers of lost experiments again (docs/operate/backup.md), so a run of the lost history and
 * a run of the new one may have one id. The runs of the lost history are on agents.
 */
import { AllocationReportState } from "@trainyard/contracts/agent";
import { EndReason, StopMode } from "@trainyard/contracts/events";
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

test("a run of a lost history and the new run of its id are on one agent at once, and only the lost one is killed", async () => {
  await using world = await World.open();
  await world.scheduler();
  await world.run("1.1#1");
  const agent = await returning(world);
  agent.stubborn = true;
  await agent.start();
  await world.advance(3_000);
  expect(world.last("allocation-1.1#1", "AllocationGranted").placements[0]?.slots).toEqual(["1"]);
  expect(world.last("agent-a1", "AgentReturned").occupations).toEqual([
    { allocation: "1.1#1@lost", slots: ["0"] },
  ]);
  agent.stubborn = false;
  await world.advance(3_000);
  expect(world.last("agent-a1", "SlotsCleared").allocation).toBe("1.1#1@lost");
  expect([...agent.held.values()].map(({ requestId, state }) => [requestId, state])).toEqual([
    [agent.launched[0]?.requestId, AllocationReportState.RUNNING],
  ]);
  expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
  world.assertNothingOversubscribed();
});

const sealed = { checkpoints: [{ checkpoint: "a", step: 1, bytes: 1 }] };

test("the checkpoints that a run of a lost history left are not those of the new run of its id", async () => {
  await using world = await World.open();
  await world.scheduler();
  await world.run("1.1#1");
  await world.requestStop("1.1#1", StopMode.KILL);
  await world.advance(1_000);
  expect(world.names("allocation-1.1#1")).toContain("AllocationEnded");
  const agent = await returning(world);
  agent.leave("1.1#1", sealed);
  await agent.start();
  await world.advance(5_000);
  const returns = world.events("agent-a1").filter(({ type }) => type === "AgentReturned");
  expect(returns.map(({ data }) => data)).toMatchObject([
    { occupations: [{ allocation: "1.1#1@lost" }] },
  ]);
  expect(returns[0]?.data).not.toHaveProperty("left");
  expect([...agent.held]).toEqual([]);
});

test("a scheduler that took over knows the ended runs of its log, and whose checkpoints they left", async () => {
  await using world = await World.open();
  const before = await world.scheduler();
  const agent = await world.agent("a1", 1);
  await world.run("1.1#1");
  agent.silent = true;
  await world.advance(35_000);
  await world.requestStop("1.1#1", StopMode.KILL);
  expect(world.names("allocation-1.1#1")).toContain("AllocationEnded");
  await world.stop(before);
  await world.scheduler();
  agent.end("1.1#1", { code: 0 }, { sealed });
  agent.silent = false;
  await world.advance(3_000);
  expect(world.last("agent-a1", "AgentReturned").left).toEqual({
    runs: [{ allocation: "1.1#1", ...sealed }],
  });
  expect([...agent.held]).toEqual([]);
});
