/**
 * The scheduler with hosts in trouble: full disks, launches that fail or are silent, processes that cannot be killed.
 */
import { spokenProtocol } from "@trainyard/contracts/agent";
import { AllocationEndCause, WaitCode } from "@trainyard/contracts/events";
import { decodeReply, encodeRequest, readRejected } from "@trainyard/runtime";
import { describe, expect, test } from "vitest";
import { readSnapshot, writeSnapshot } from "../core/cluster/snapshot.ts";
import { Deadlines } from "../core/reconcile/deadlines.ts";
import { limits } from "../limits.ts";
import { World } from "../testing/world.ts";

const megabyte = 1024 * 1024;

async function openWorld(): Promise<World> {
  const world = await World.open();
  await world.scheduler();
  return world;
}

/** The agents on which an allocation is placed. */
function placeOf(world: World, allocation: string): readonly string[] {
  return world
    .last(`allocation-${allocation}`, "AllocationGranted")
    .placements.map(({ agent }) => agent);
}

describe("an agent whose disk is full", () => {
  test("gets no runs until it has space, and the waiting run shows that reason", async () => {
    await using world = await openWorld();
    const agent = await world.agent("a1", 1);
    agent.diskFreeBytes = 5 * megabyte;
    await world.advance(1_000);
    expect(world.last("agent-a1", "AgentDiskLow")).toEqual({
      freeBytes: 5 * megabyte,
      floorBytes: limits.diskFloorBytes,
    });
    await world.run("1.1#1");
    await world.advance(5_000);
    expect(world.last("allocation-1.1#1", "WaitExplained")).toEqual({
      code: WaitCode.LOW_DISK,
      detail: "a1 has 5 MB of disk left, and nothing is placed below 256 MB",
    });
    agent.diskFreeBytes = limits.diskFloorBytes;
    await world.advance(2_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentDiskLow"]);
    agent.diskFreeBytes = limits.diskFreedBytes;
    await world.advance(1_000);
    expect(world.names("agent-a1").at(-1)).toBe("AgentDiskFreed");
    expect(world.names("allocation-1.1#1")).toContain("AllocationStarted");
  });

  test("keeps its run, and a waiting run is placed on another agent", async () => {
    await using world = await openWorld();
    const agent = await world.agent("a1", 2);
    await world.run("1.1#1");
    agent.diskFreeBytes = 0;
    await world.advance(1_000);
    await world.agent("a2", 8);
    await world.run("1.2#1");
    expect(placeOf(world, "1.2#1")).toEqual(["a2"]);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
  });
});

test("an agent's notices are recorded when they change, and stay when it joins again", async () => {
  await using world = await openWorld();
  const agent = await world.agent("a1", 1);
  agent.notices = ["a slot is busy", "memory is left"];
  await world.advance(5_000);
  expect(world.last("agent-a1", "AgentNoticed")).toEqual({ notices: agent.notices });
  agent.spoken = { ...spokenProtocol, protocolOldest: 0 };
  await world.advance(5_000);
  expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentNoticed", "AgentJoined"]);
  agent.notices = [];
  await world.advance(5_000);
  expect(world.last("agent-a1", "AgentNoticed")).toEqual({ notices: [] });
});

describe("an agent that needs a newer scheduler", () => {
  const tooNew = { protocol: 99, protocolOldest: 98 };

  test("gets no runs until it is compatible, keeps its runs, and the waiting run shows that reason", async () => {
    await using world = await openWorld();
    const agent = await world.agent("a1", 2);
    await world.run("1.1#1");
    agent.spoken = tooNew;
    await world.advance(1_000);
    expect(world.last("agent-a1", "AgentJoined")).toMatchObject(tooNew);
    await world.run("1.2#1");
    await world.advance(5_000);
    const { detail } = world.last("allocation-1.2#1", "WaitExplained");
    expect(detail).toMatch(/nothing is placed on a1: the agent is too new: it needs version 98/);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    agent.spoken = spokenProtocol;
    await world.advance(2_000);
    expect(world.names("allocation-1.2#1")).toContain("AllocationStarted");
  });
});

describe("a launch that shows no progress", () => {
  test("ends after its time limit, the run is tried on another agent, and the old launch keeps its slots", async () => {
    await using world = await openWorld();
    const agent = await world.agent("a1", 1);
    agent.deaf = true;
    await world.run("1.1#1");
    await world.advance(limits.launchSilenceMs - 5_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationGranted");
    await world.advance(10_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.LAUNCH_FAILED,
      message: "the launch on a1 showed no progress for 3 minutes",
      launchFailure: { agents: ["a1"], silent: ["a1"], platformAway: false },
    });
    await world.agent("a2", 1);
    await world.run("1.1#2", {}, { avoided: { agents: ["a1"] } });
    expect(placeOf(world, "1.1#2")).toEqual(["a2"]);
    await world.run("1.2#1");
    await world.advance(2_000);
    expect(world.names("allocation-1.2#1")).not.toContain("AllocationGranted");
    agent.deaf = false;
    await world.advance(2_000);
    expect(world.last("agent-a1", "SlotsCleared")).toEqual({ allocation: "1.1#1", slots: ["0"] });
    expect(agent.launched.map(({ allocation }) => allocation)).toEqual(["1.2#1"]);
    world.assertNothingOversubscribed();
  });

  test("continues as long as it shows some progress", async () => {
    await using world = await openWorld();
    const agent = await world.agent("a1", 1);
    agent.slowStart = true;
    await world.run("1.1#1");
    for (let progress = 1; progress <= 15; progress += 1) {
      await world.advance(limits.launchSilenceMs - 60_000);
      agent.tell("1.1#1", { progress });
    }
    await world.advance(1_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationGranted");
    agent.up("1.1#1");
    await world.advance(1_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    await world.advance(2 * limits.launchSilenceMs);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
  });

  test("has its whole time limit again after an outage of all agents", async () => {
    await using world = await openWorld();
    const agent = await world.agent("a1", 1);
    agent.slowStart = true;
    await world.run("1.1#1");
    await world.advance(60_000);
    world.hub.disconnect("scheduler");
    await world.advance(2 * limits.launchSilenceMs);
    world.hub.reconnect("scheduler");
    await world.advance(limits.launchSilenceMs - 70_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationGranted");
    await world.advance(80_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationEnded");
  });

  test("counts against no agent if a service of the platform does not answer, and is recorded with that reason", async () => {
    await using world = await openWorld();
    const agent = await world.agent("a1", 1);
    agent.slowStart = true;
    for (const id of ["1.1#1", "2.1#1"]) {
      await world.run(id);
      agent.tell(id, { waitsForPlatform: true });
      await world.advance(limits.launchSilenceMs + 5_000);
      expect(world.last(`allocation-${id}`, "AllocationEnded")).toMatchObject({
        message:
          "the launch on a1 showed no progress for 3 minutes: a service of the platform did not answer there",
        launchFailure: { agents: ["a1"], platformAway: true },
      });
    }
    expect(world.names("agent-a1")).not.toContain("AgentDistrusted");
  });

  test("ends the other nodes of its run, which are killed first", async () => {
    await using world = await openWorld();
    const a1 = await world.agent("a1", 1);
    await world.agent("a2", 1);
    a1.deaf = true;
    await world.run("1.1#1", { slots: 2 });
    await world.advance(limits.launchSilenceMs + 5_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.LAUNCH_FAILED,
      exits: [{ agent: "a2", signal: "SIGKILL" }],
      launchFailure: { agents: ["a1"] },
    });
  });
});

describe("an agent on which launches fail", () => {
  /** Fails launches of this many experiments, one after the other. */
  async function failing(world: World, experiments: number) {
    const agent = await world.agent("a1", 1);
    agent.failing = "no space left";
    for (let n = 1; n <= experiments; n += 1) await world.run(`${n}.1#1`);
    return agent;
  }

  test("is not blamed for one experiment, however often", async () => {
    await using world = await openWorld();
    await failing(world, 1);
    for (let run = 2; run <= 20; run += 1) await world.run(`1.1#${run}`);
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
    expect(world.last("allocation-1.1#20", "AllocationEnded").launchFailure).toEqual({
      agents: ["a1"],
      silent: [],
      platformAway: false,
    });
  });

  test("of different experiments gets launches less and less often, and the waiting run shows that reason", async () => {
    await using world = await openWorld();
    const agent = await failing(world, 2);
    expect(world.last("agent-a1", "AgentDistrusted")).toEqual({
      failures: 2,
      experiments: ["1", "2"],
      reason: "no space left",
      forMs: limits.distrustFirstMs,
    });
    await world.run("3.1#1");
    await world.advance(5_000);
    expect(world.last("allocation-3.1#1", "WaitExplained")).toEqual({
      code: WaitCode.AGENTS_DISTRUSTED,
      detail: "the last 2 runs failed on a1, which gets no runs for a while (no space left)",
    });
    await world.advance(limits.distrustFirstMs - 8_000);
    expect(agent.launched).toHaveLength(2);
    await world.advance(8_000);
    expect(agent.launched).toHaveLength(3);
    const times = () =>
      world
        .events("agent-a1")
        .flatMap((event) => (event.type === "AgentDistrusted" ? [event.data.forMs] : []));
    for (let run = 2; times().length < 7; run += 1) {
      expect(run).toBeLessThan(20);
      await world.run(`3.1#${run}`);
      await world.advance(limits.distrustLastMs);
    }
    expect(times()).toEqual([30, 60, 120, 240, 480, 600, 600].map((seconds) => seconds * 1_000));
  });

  test("is not distrusted when its host only lacks something for one configuration", async () => {
    await using world = await openWorld();
    const agent = await world.agent("a1", 1);
    agent.failing = "there is no folder /data on a1";
    agent.lacking = true;
    for (let n = 1; n <= 5; n += 1) await world.run(`${n}.1#1`);
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
    expect(world.last("allocation-5.1#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.LAUNCH_FAILED,
      message: "there is no folder /data on a1",
      launchFailure: { agents: ["a1"], lacking: true },
    });
  });

  test("is trusted again once a run has ended well there, or has been up for a minute", async () => {
    await using world = await openWorld();
    const agent = await failing(world, 2);
    agent.failing = null;
    await world.run("3.1#1");
    await world.advance(limits.distrustFirstMs + 2_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentDistrusted"]);
    agent.end("3.1#1", { code: 0 });
    await world.advance(1_000);
    expect(world.last("agent-a1", "AgentTrusted")).toEqual({
      reason: "a run has ended well there",
    });
    agent.failing = "no space left";
    for (const id of ["4.1#1", "5.1#1"]) await world.run(id);
    agent.failing = null;
    await world.run("6.1#1");
    await world.advance(limits.distrustFirstMs + limits.hostProofMs - 2_000);
    expect(world.names("agent-a1").slice(3)).toEqual(["AgentDistrusted"]);
    await world.advance(5_000);
    expect(world.last("agent-a1", "AgentTrusted")).toEqual({
      reason: "a run has been up there for a minute",
    });
  });

  test("is not distrusted if a run starts there between the failures", async () => {
    await using world = await openWorld();
    const agent = await failing(world, 1);
    agent.failing = null;
    await world.run("2.1#1");
    agent.end("2.1#1", { code: 1 });
    agent.failing = "no space left";
    await world.run("3.1#1");
    await world.advance(1_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
  });

  test("is trusted again at once when a person says so", async () => {
    await using world = await openWorld();
    const agent = await failing(world, 2);
    agent.failing = null;
    await world.run("3.1#1");
    await trust(world, "a1");
    await world.advance(1_000);
    expect(world.last("agent-a1", "AgentTrusted")).toEqual({
      reason: "a user trusts it again",
    });
    expect(world.names("allocation-3.1#1")).toContain("AllocationStarted");
    expect(await trust(world, "a9")).toContain("has never joined");
  });

  test("is distrusted for as long when another scheduler takes over", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await failing(world, 2);
    await world.stop(first);
    await world.clock.advance(15_000);
    await world.scheduler();
    await world.run("3.1#1");
    await world.advance(10_000);
    expect(agent.launched).toHaveLength(2);
    await world.advance(20_000);
    expect(agent.launched).toHaveLength(3);
  });

  test("is distrusted for as long in a restored fold", async () => {
    await using world = await openWorld();
    await failing(world, 2);
    const saved = readSnapshot(writeSnapshot(world.fold()));
    const { agents } = saved.pool("default");
    const untilMs = saved.agents.get("a1")?.trust.untilMs ?? 0;
    const deadlines = new Deadlines();
    const lookAt = (nowMs: number): void => {
      deadlines.look(saved, nowMs);
      const mayBeTried = (agent: string): boolean => deadlines.mayBeTried(agent, nowMs);
      saved.admit(() => true, mayBeTried);
      deadlines.look(saved, nowMs);
    };
    lookAt(0);
    const leftMs = untilMs - saved.timeMs;
    expect(leftMs).toBeGreaterThan(0);
    lookAt(leftMs - 1);
    expect([agents.freeSlots, deadlines.next()]).toEqual([0, leftMs]);
    lookAt(leftMs);
    expect([agents.freeSlots, deadlines.next()]).toEqual([1, null]);
  });

  async function trust(world: World, agent: string): Promise<string> {
    const person = world.hub.connect(crypto.randomUUID());
    const body = encodeRequest("scheduler", "TrustAgent", { agent });
    const headers = {
      commitId: crypto.randomUUID(),
      authid: "user:1",
      traceparent: "",
      correlationid: "",
    };
    const reply = await person.request("scheduler", "TrustAgent", { headers, body }, 1_000);
    if (reply.kind === "unavailable") throw new Error(reply.detail);
    if (reply.kind === "rejected") return readRejected(reply.body).detail;
    return String(decodeReply("scheduler", "TrustAgent", reply.body).position);
  }
});

describe("processes that cannot be killed", () => {
  test("are recorded with the agent's description, as long as they live", async () => {
    await using world = await openWorld();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    agent.tell("1.1#1", { left: "process 7 is still there" });
    await world.advance(2_000);
    agent.tell("1.1#1", { left: "" });
    await world.advance(2_000);
    const left = world
      .events("agent-a1")
      .flatMap((event) => (event.type === "ProcessesLeft" ? [event.data] : []));
    expect(left).toEqual([
      { allocation: "1.1#1", message: "process 7 is still there" },
      { allocation: "1.1#1", message: "" },
    ]);
  });
});
