import { AllocationEndCause, StopMode, StopWhy, WaitCode } from "@trainyard/contracts/events";
import { encodeEvent, type AnyEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { atRest } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";

type Asked = { slot?: string; drain?: boolean; deadlineMs?: number };

const disable = (world: World, agent: string, asked: Asked = {}) =>
  send(world, "DisableAgent", {
    agent,
    slot: "",
    reason: "a fan",
    drain: false,
    deadlineMs: 0,
    ...asked,
  });
const enable = (world: World, agent: string, slot = "") =>
  send(world, "EnableAgent", { agent, slot });
const remove = (world: World, agent: string) =>
  send(world, "RemoveAgent", { agent, reason: "sold", force: false });

const agentOf = (world: World, run: string): string | undefined =>
  world.last(`allocation-${run}`, "AllocationGranted").placements[0]?.agent;

describe("an agent that is disabled", () => {
  test("keeps its run, gets no other, and explains this to the waiting run, which it gets when it is enabled", async () => {
    await using world = await World.scheduled(2);
    await world.run("1.1#1");
    await disable(world, "a1");

    await world.run("1.2#1");
    await world.advance(4_000);

    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    const wait = world.last("allocation-1.2#1", "WaitExplained");
    expect(wait.code).toBe(WaitCode.AGENTS_AWAY);
    expect(wait.detail).toContain("a1 is disabled (a fan)");
    await enable(world, "a1");
    expect(world.names("allocation-1.2#1").at(-1)).toBe("AllocationStarted");
    world.assertNothingOversubscribed();
  });

  test("stays disabled when it is lost, returns, or offers something else", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await disable(world, "a1");
    agent.silent = true;
    await world.advance(35_000);
    agent.silent = false;
    agent.offer(2);
    await world.advance(2_000);
    await world.run("1.1#1");
    await world.advance(1_000);
    expect(world.names("allocation-1.1#1")).toEqual(["AllocationQueued"]);
  });

  test("can have a single slot disabled, even if the slot disappears and is back", async () => {
    await using world = await World.scheduled(2);
    const agent = world.named("a1");
    await disable(world, "a1", { slot: "0" });
    agent.offer(0);
    await world.advance(1_000);
    agent.offer(2);
    await world.advance(1_000);
    await world.run("1.1#1");
    await world.run("1.2#1");
    const granted = world.last("allocation-1.1#1", "AllocationGranted");
    expect(granted.placements[0]?.slots).toEqual(["1"]);
    expect(world.names("allocation-1.2#1")).toEqual(["AllocationQueued"]);
    await enable(world, "a1", "0");
    expect(world.last("allocation-1.2#1", "AllocationGranted").placements[0]?.slots).toEqual(["0"]);
  });

  test("has to exist, and so does its slot: requests for unknown ones are refused with a sentence", async () => {
    await using world = await World.scheduled(2);
    expect(await disable(world, "a9")).toMatchObject({ rejected: "agent_unknown" });
    expect(await disable(world, "no name")).toMatchObject({ rejected: "agent_unknown" });
    expect(await disable(world, "a1", { slot: "7" })).toEqual({
      rejected: "slot_unknown",
      detail: "agent a1: it has no slot 7, but the slots 0, 1",
    });
    expect(await disable(world, "a1", { deadlineMs: -1 })).toMatchObject({
      rejected: "invalid_request",
    });
  });
});

describe("an agent that is drained", () => {
  test("asks its runs to stop with the deadline as their grace, they continue elsewhere, and it is drained once none is left", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1");
    await world.agent("a2", 1);
    await disable(world, "a1", { drain: true, deadlineMs: 60_000 });

    expect(world.last("allocation-1.1#1", "AllocationStopRequested")).toEqual({
      mode: StopMode.GRACEFUL,
      why: StopWhy.DRAIN,
      graceMs: 60_000,
    });
    expect(world.names("agent-a1").at(-1)).toBe("AgentDrainRequested");
    await world.advance(5_000);
    expect(world.names("allocation-1.1#1").filter((name) => name.includes("Stop"))).toHaveLength(1);
    agent.end("1.1#1", { code: 0 });
    await atRest();
    expect(world.names("agent-a1").at(-1)).toBe("AgentDrained");
    await world.run("1.1#2");
    expect(agentOf(world, "1.1#2")).toBe("a2");
    await world.run("1.2#1");
    await enable(world, "a1");
    expect(agentOf(world, "1.2#1")).toBe("a1");
  });

  test("is drained only when the checkpoints of its ended runs are stored, and is not removed before", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1");
    await disable(world, "a1", { drain: true, deadlineMs: 10_000 });
    agent.undelivered = { checkpoints: 3, bytes: 12e9, runs: ["1.1#1"] };
    agent.end("1.1#1", { code: 0 });
    await world.advance(60_000);
    expect(world.names("agent-a1").slice(-2)).toEqual(["AgentDrainRequested", "CheckpointsLeft"]);
    expect(await remove(world, "a1")).toMatchObject({ rejected: "agent_has_checkpoints" });
    agent.undelivered = { checkpoints: 1, bytes: 4e9, runs: ["1.1#1"] };
    await world.advance(2_000);
    agent.undelivered = undefined;
    await world.advance(2_000);
    expect(world.names("agent-a1").slice(-3)).toEqual([
      "CheckpointsLeft",
      "CheckpointsLeft",
      "AgentDrained",
    ]);
  });

  test("kills the remaining runs at its deadline", async () => {
    await using world = await World.scheduled(1);
    await world.run("1.1#1");
    await disable(world, "a1", { drain: true, deadlineMs: 10_000 });
    await world.advance(9_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStopRequested");
    await world.advance(3_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded").cause).toBe(AllocationEndCause.KILLED);
    expect(world.names("agent-a1").at(-1)).toBe("AgentDrained");
  });

  test("kills no run without a deadline, until a shorter one is given", async () => {
    await using world = await World.scheduled(1);
    await world.run("1.1#1");
    await disable(world, "a1", { drain: true });
    await world.advance(120_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStopRequested");
    await disable(world, "a1", { drain: true, deadlineMs: 5_000 });
    await world.advance(8_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationEnded");
  });

  test("does not delay a time limit if it has no deadline, with its grace and its kill", async () => {
    await using world = await World.scheduled(1);
    await world.run("1.1#1", { timeLimitMs: 10_000, preemptionTimeoutMs: 5_000 });
    await disable(world, "a1", { drain: true });
    await world.advance(12_000);
    const stop = world.last("allocation-1.1#1", "AllocationStopRequested");
    expect(stop).toMatchObject({ why: StopWhy.TIME_LIMIT, graceMs: 5_000 });
    await world.advance(8_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationEnded");
    const stops = world.names("allocation-1.1#1").filter((name) => name.includes("StopReq"));
    expect(stops).toHaveLength(3);
  });

  test("by a slot ends only the run on that slot", async () => {
    await using world = await World.scheduled(2);
    await world.run("1.1#1");
    await world.run("1.2#1");
    await disable(world, "a1", { slot: "1", drain: true, deadlineMs: 5_000 });
    await world.advance(8_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    expect(world.last("allocation-1.2#1", "AllocationStopRequested").why).toBe(StopWhy.DRAIN);
    expect(world.names("allocation-1.2#1").at(-1)).toBe("AllocationEnded");
    await world.run("1.3#1");
    expect(world.names("allocation-1.3#1")).toEqual(["AllocationQueued"]);
  });

  test("shortens a running stop, and never lengthens one", async () => {
    await using world = await World.scheduled(2);
    await world.run("1.1#1");
    await world.run("1.2#1");
    await world.requestStop("1.1#1", StopMode.GRACEFUL, 3_600_000);
    await world.requestStop("1.2#1", StopMode.GRACEFUL, 1_000);
    await disable(world, "a1", { drain: true, deadlineMs: 30_000 });
    expect(world.last("allocation-1.1#1", "AllocationStopRequested").why).toBe(StopWhy.DRAIN);
    expect(world.last("allocation-1.2#1", "AllocationStopRequested").why).toBe(StopWhy.PAUSE);
    await world.advance(33_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationEnded");
  });

  test("is drained by the next scheduler, if only the request was logged", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.stop(first);
    await record(world, "agent-a1", {
      type: "AgentDrainRequested",
      data: { reason: "", deadlineMs: 60_000 },
    });
    const second = await world.scheduler();
    await world.advance(1_000);
    expect(world.last("allocation-1.1#1", "AllocationStopRequested").why).toBe(StopWhy.DRAIN);
    await world.stop(second);
    agent.end("1.1#1", { code: 0 });
    await world.scheduler();
    await world.advance(2_000);
    expect(world.names("agent-a1").at(-1)).toBe("AgentDrained");
    expect(world.names("allocation-1.1#1").filter((name) => name.includes("Stop"))).toHaveLength(1);
  });
});

describe("an agent that is removed", () => {
  test("must have no runs, or be lost", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1");
    expect(await remove(world, "a1")).toEqual({
      rejected: "agent_has_runs",
      detail: "agent a1: it is connected and has runs (1.1#1): drain it first",
    });
    expect(await remove(world, "a9")).toMatchObject({ rejected: "agent_unknown" });
    agent.silent = true;
    await world.advance(35_000);
    await remove(world, "a1");
    expect(world.names("agent-a1").at(-1)).toBe("AgentRemoved");
    await world.run("1.2#1");
    await world.advance(5_000);
    expect(world.names("allocation-1.2#1")).not.toContain("AllocationGranted");
  });

  test("joins again when it reports again, with its running runs, whose slots are not given away before they end", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1");
    agent.silent = true;
    await world.advance(35_000);
    await remove(world, "a1");
    await world.run("1.2#1");
    agent.stubborn = true;
    agent.silent = false;
    await world.advance(2_000);
    expect(world.names("agent-a1").slice(-2)).toEqual(["AgentJoined", "AgentReturned"]);
    expect(world.names("allocation-1.2#1")).not.toContain("AllocationGranted");
    agent.stubborn = false;
    await world.advance(3_000);
    expect(world.names("allocation-1.2#1").at(-1)).toBe("AllocationStarted");
    world.assertNothingOversubscribed();
  });

  test("is still disabled when it joins again", async () => {
    await using world = await World.scheduled(1);
    await disable(world, "a1", { drain: true });
    await remove(world, "a1");
    await world.advance(2_000);
    expect(world.names("agent-a1").slice(-2)).toEqual(["AgentRemoved", "AgentJoined"]);
    await world.run("1.1#1");
    await world.advance(1_000);
    expect(world.names("allocation-1.1#1")).toEqual(["AllocationQueued"]);
  });
});

/** Records an event as the service would, without its further actions. */
async function record(world: World, stream: string, event: AnyEvent): Promise<void> {
  await world.log.as("scheduler").append({
    commitId: crypto.randomUUID(),
    writes: [
      {
        stream,
        expectedVersion: world.log.store.version(stream),
        events: [{ id: newEventId(), ...encodeEvent(event) }],
      },
    ],
    guards: [],
    meta: {
      source: "/trainyard/scheduler",
      workspace: "",
      correlationid: "",
      causationid: "",
      authid: "",
      traceparent: "",
    },
  });
}
