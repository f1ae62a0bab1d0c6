import { StopMode } from "@trainyard/contracts/events";
import { Fault } from "@trainyard/kernel";
import { atRest, ManualClock } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { World } from "../testing/world.ts";

describe("a scheduler that takes over", () => {
  test("continues the other's work: runs go on and end, and their slots are given to waiting runs", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.run("1.2#1");
    await world.stop(first);
    agent.end("1.1#1", { code: 0 });
    await atRest();
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");

    await world.scheduler();
    await world.advance(2_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationEnded");
    expect(world.names("allocation-1.2#1").at(-1)).toBe("AllocationStarted");
    expect(agent.launched.map(({ allocation }) => allocation)).toEqual(["1.1#1", "1.2#1"]);
  });

  test("launches granted runs whose launch was never sent, with the same token", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await world.agent("a1", 1);
    agent.silent = true; // Nothing that the first sends arrives.
    await world.run("1.1#1");
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationGranted");
    await world.stop(first);
    agent.silent = false;
    await world.scheduler();
    await world.advance(2_000);
    expect(agent.launched).toHaveLength(1);
    const granted = world.log.store
      .stream("allocation-1.1#1")
      .find(({ type }) => type.includes("AllocationGranted"));
    expect(agent.launched[0]?.grantPosition).toBe(String(granted?.position));
  });

  test("launches no run again that had been launched", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await world.agent("a1", 1);
    agent.slowStart = true;
    await world.run("1.1#1");
    await world.stop(first);
    await world.scheduler();
    await world.advance(2_000);
    expect(agent.launched).toHaveLength(1);
    agent.up("1.1#1");
    await world.advance(1_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
  });

  test("gives every agent a full window", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.advance(2_000);
    agent.silent = true;
    await world.advance(28_000);
    await world.stop(first);
    await world.scheduler();
    await world.advance(28_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
    await world.advance(8_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentLost"]);
  });

  test("kills at most a whole grace after its takeover, if the grace began before", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.requestStop("1.1#1", StopMode.GRACEFUL, 10_000);
    await world.stop(first);
    await world.advance(8_000);
    await world.scheduler();
    await world.advance(1_000);
    expect(world.names("allocation-1.1#1")).not.toContain("AllocationEnded");
    await world.advance(10_000);
    expect(world.names("allocation-1.1#1")).toContain("AllocationEnded");
  });

  test("is the only one that decides while the other is paused beyond its lease", async () => {
    await using world = await World.open();
    const pausedClock = new ManualClock();
    await world.scheduler(pausedClock, "scheduler-1");
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.scheduler(world.clock, "scheduler-2");
    await world.advance(5_000);
    // The paused scheduler resumes: the report makes it decide, and its decision must be refused.
    agent.end("1.1#1", { code: 0 });
    await world.run("1.2#1");
    await world.advance(2_000);
    await pausedClock.advance(6_000);
    expect(
      world.names("allocation-1.1#1").filter((name) => name === "AllocationEnded"),
    ).toHaveLength(1);
    expect(agent.launched.map(({ allocation }) => allocation)).toEqual(["1.1#1", "1.2#1"]);
    expect(agent.heard.at(-1)?.epoch).toBe(2);
    world.assertNothingOversubscribed();
  });

  test("reacts once to requests that were made while no scheduler ran", async () => {
    await using world = await World.open();
    await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.scheduler();
    await world.advance(1_000);
    expect(world.names("allocation-1.1#1")).toEqual([
      "AllocationQueued",
      "AllocationGranted",
      "AllocationStarted",
    ]);
  });
});

describe("a log that is away", () => {
  test("delays decisions and repeats none, whether or not the commit had happened", async () => {
    let failing: "before" | "after" | null = null;
    const fail = (when: "before" | "after", role: string): void => {
      if (failing === when && role === "scheduler")
        throw new Fault("log_away", "the log is away", { retry: "later" });
    };
    await using world = await World.open({
      log: {
        beforeCommit: (_request, role) => fail("before", role),
        afterCommit: (_request, _result, role) => fail("after", role),
      },
    });
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    for (const [n, when] of (["before", "after"] as const).entries()) {
      const id = `1.${n + 1}#1`;
      failing = when;
      await world.run(id);
      await world.advance(2_000);
      failing = null;
      await world.advance(6_000);
      expect(world.names(`allocation-${id}`)).toEqual([
        "AllocationQueued",
        "AllocationGranted",
        "AllocationStarted",
      ]);
      failing = when;
      agent.end(id, { code: 0 });
      await world.advance(2_000);
      failing = null;
      await world.advance(6_000);
      expect(world.names(`allocation-${id}`).at(-1)).toBe("AllocationEnded");
    }
    expect(agent.launched).toHaveLength(2);
    world.assertNothingOversubscribed();
  });
});
