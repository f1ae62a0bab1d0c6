/** The scheduler with slots that disappear and come back while runs hold them. */
import { AllocationEndCause, WaitCode } from "@trainyard/contracts/events";
import { atRest } from "@trainyard/testing";
import { expect, test } from "vitest";
import { World } from "../testing/world.ts";

const gpu = (id: string) => ({ id, device: "cuda", uuid: id, memoryBytes: 1, name: "A100" });

test("a run on a slot that has disappeared continues, and the slot is given again only when the run has ended and it is back", async () => {
  await using world = await World.open();
  await world.scheduler();
  const agent = await world.agent("a1", 0);
  agent.offerSlots([gpu("GPU-a"), gpu("GPU-b")]);
  await world.advance(1_000);
  await world.run("1.1#1");
  expect(agent.launched.map(({ slots }) => slots)).toEqual([["GPU-a"]]);

  agent.offerSlots([gpu("GPU-b")]);
  await world.advance(1_000);
  expect(world.last("agent-a1", "AgentJoined").slots).toEqual([gpu("GPU-b")]);
  await world.advance(60_000);
  expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
  await world.run("1.2#1");
  await world.run("1.3#1");
  await world.advance(5_000);
  expect(agent.launched.map(({ slots }) => slots)).toEqual([["GPU-a"], ["GPU-b"]]);
  expect(world.last("allocation-1.3#1", "WaitExplained")).toMatchObject({
    code: WaitCode.NOT_ENOUGH_FREE_SLOTS,
    detail: "the run needs 1 slot and 0 of 1 are free",
  });

  agent.offerSlots([gpu("GPU-a"), gpu("GPU-b")]);
  await world.advance(5_000);
  expect(agent.launched).toHaveLength(2);
  agent.offerSlots([gpu("GPU-b")]);
  await world.advance(1_000);
  agent.end("1.1#1", { code: 0 });
  await world.advance(5_000);
  expect(world.last("allocation-1.1#1", "AllocationEnded").cause).toBe(AllocationEndCause.EXITED);
  expect(agent.launched).toHaveLength(2);

  agent.offerSlots([gpu("GPU-a"), gpu("GPU-b")]);
  await world.advance(1_000);
  await atRest();
  expect(agent.launched.map(({ allocation, slots }) => [allocation, slots])).toEqual([
    ["1.1#1", ["GPU-a"]],
    ["1.2#1", ["GPU-b"]],
    ["1.3#1", ["GPU-a"]],
  ]);
  world.assertNothingOversubscribed();
});

test("a launch that fails because its slot has disappeared is tried on another agent", async () => {
  await using world = await World.open();
  await world.scheduler();
  const agent = await world.agent("a1", 1);
  agent.failing = "slot 0 is not offered any more: nvidia-smi does not list it";
  await world.run("1.1#1");
  expect(world.last("allocation-1.1#1", "AllocationEnded")).toMatchObject({
    cause: AllocationEndCause.LAUNCH_FAILED,
    launchFailure: { agents: ["a1"] },
    message: expect.stringContaining("nvidia-smi does not list it") as string,
  });
});
