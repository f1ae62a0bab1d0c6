/**
 * The epochs of a restored or failed-over log begin below those that agents have seen: the scheduler raises its epoch
 * above them.
 */
import { describe, expect, test } from "vitest";
import { World } from "../testing/world.ts";

const identity = { folder: "f1", place: "p1", startedMs: 1_000 };

/** An agent that has seen an epoch before this log began. */
async function knowing(world: World, highestEpoch: number, name = "a1") {
  const agent = world.newAgent(name, 1);
  agent.identity = { ...identity, folder: name };
  agent.highestEpoch = highestEpoch;
  await agent.start();
  return agent;
}

describe("agents that know a higher epoch than the scheduler", () => {
  test("are served within seconds, and the log records the raise and the old epoch", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await knowing(world, 900);
    const other = await knowing(world, 700, "a2");
    await world.run("1.1#1");
    await world.run("1.2#1");
    await world.advance(2_000);
    expect(agent.launched).toHaveLength(1);
    expect(other.launched).toHaveLength(1);
    expect(world.last("agent-a1", "SchedulerEpochRaised")).toEqual({
      from: 1,
      to: 901,
      leaseEpoch: 1,
    });
    expect(world.names("agent-a2")).toEqual(["AgentJoined"]);
    expect(agent.heard.at(-1)?.epoch).toBe(901);
  });

  test("accept every later scheduler, each with a higher epoch than the one before it", async () => {
    await using world = await World.open();
    const before = await world.scheduler();
    const agent = await knowing(world, 900);
    await world.advance(2_000);
    await world.stop(before);
    await world.scheduler();
    await world.run("1.1#1");
    await world.advance(2_000);
    expect(agent.heard.at(-1)?.epoch).toBe(902);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "SchedulerEpochRaised"]);
  });

  test("that have lists of the same epoch of a lost history get a higher one, kill its runs and start a new one", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = world.newAgent("a1", 2);
    agent.identity = { ...identity, folder: "a1" };
    agent.processed(1, 9);
    agent.occupy("7.1#1", ["0"]);
    await agent.start();
    await world.run("1.1#1");
    await world.advance(3_000);
    expect([...agent.held.keys()]).toEqual(["1.1#1"]);
    expect(agent.launched).toHaveLength(1);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    expect(world.last("agent-a1", "SchedulerEpochRaised")).toMatchObject({
      from: 1,
      leaseEpoch: 1,
    });
  });

  test.each([Number.NaN, -5, 2 ** 53, 2 ** 52 + 1, 1e300, Number.POSITIVE_INFINITY, 0.5, 2 ** 40])(
    "that no scheduler can have sent (%d) change nothing for the other agents",
    async (highestEpoch) => {
      await using world = await World.open();
      await world.scheduler();
      await knowing(world, highestEpoch, "a1");
      const other = await knowing(world, 30, "a2");
      await world.run("1.1#1", { slots: 2 });
      await world.run("1.2#1");
      await world.advance(3_000);
      expect(other.heard.at(-1)?.epoch).toBe(31);
      expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
    },
  );
});
