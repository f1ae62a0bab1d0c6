/** A refused decision affects only itself; a report that is too large for one message loses no run. */
import { AllocationEndCause, EndReason } from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { World } from "../testing/world.ts";

test("an end record of 300 KB is recorded shortened, and another run starts and ends in the same term", async () => {
  await using world = await World.open();
  await world.scheduler();
  const agent = await world.agent("a1", 2);
  await world.run("1.1#1");
  await world.run("1.2#1");
  const endRecord = { reason: EndReason.ERROR, message: `\0${"x".repeat(300_000)}` };
  agent.end("1.1#1", { code: 1, message: "y".repeat(300_000) }, { endRecord });
  await world.advance(1_000);
  const ended = world.last("allocation-1.1#1", "AllocationEnded");
  expect(ended.endRecord?.message).toBe(`\uFFFD${"x".repeat(limits.messageCharsMax - 1)}`);
  expect(ended.message).toBe("y".repeat(limits.messageCharsMax));
  agent.end("1.2#1", { code: 0 });
  await world.run("1.3#1");
  await world.advance(1_000);
  expect(world.names("allocation-1.2#1").at(-1)).toBe("AllocationEnded");
  expect(world.names("allocation-1.3#1").at(-1)).toBe("AllocationStarted");
  expect(new Set(agent.heard.map(({ epoch }) => epoch))).toEqual(new Set([1]));
});

test("a placement that the log refuses ends its run with that reason, and other runs are placed", async () => {
  await using world = await World.open();
  await world.scheduler();
  const wide = await world.agent("a1", 2);
  wide.address = "h".repeat(200_000); // Twice in a grant, which is then more than an event may hold.
  await world.advance(1_000);
  const other = await world.agent("a2", 1);
  await world.run("1.1#1", { slots: 2, singleAgent: true });
  await world.run("1.2#1", { slots: 1 });
  wide.silent = true;
  await world.advance(2_000);
  const ended = world.last("allocation-1.1#1", "AllocationEnded");
  expect(ended.cause).toBe(AllocationEndCause.LAUNCH_FAILED);
  expect(ended.message).toContain("the placement could not be recorded");
  expect(world.names("allocation-1.1#1")).not.toContain("AllocationGranted");
  await world.run("1.3#1", { slots: 1 });
  await world.advance(40_000);
  expect(other.launched.length).toBeGreaterThan(0);
  expect(new Set(other.heard.map(({ epoch }) => epoch))).toEqual(new Set([1]));
});

test("an agent whose join the log refuses is set aside alone, and joins once the cause is gone", async () => {
  await using world = await World.open();
  await world.scheduler();
  const refused = world.newAgent("a1", 1);
  refused.address = "h".repeat(300_000);
  await refused.start();
  const other = await world.agent("a2", 1);
  await world.advance(3_000);
  await world.run("1.1#1");
  await world.advance(1_000);
  expect(world.names("agent-a1")).toEqual([]);
  expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
  refused.address = "h";
  await world.advance(limits.setAsideMs + 2_000);
  expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
  expect(new Set(other.heard.map(({ epoch }) => epoch))).toEqual(new Set([1]));
});

test("a report in parts counts once it is complete, and a lost part loses no run", async () => {
  await using world = await World.open();
  await world.scheduler();
  const agent = await world.agent("a1", 4);
  for (const trial of [1, 2, 3, 4]) await world.run(`1.${trial}#1`);
  agent.parts = 3;
  agent.lostPart = 2;
  await world.advance(10_000);
  agent.lostPart = 0;
  await world.advance(2_000);
  for (const trial of [1, 2, 3, 4]) {
    expect(world.names(`allocation-1.${trial}#1`).at(-1)).toBe("AllocationStarted");
  }
  agent.end("1.4#1", { code: 0 });
  await world.advance(1_000);
  expect(world.names("allocation-1.4#1").at(-1)).toBe("AllocationEnded");
  expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
});
