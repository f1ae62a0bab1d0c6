import { AllocationEndCause, StopMode } from "@trainyard/contracts/events";
import { isRejection } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { writeSnapshot } from "../core/cluster/snapshot.ts";
import { limits } from "../limits.ts";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";

const runs = ["1.1#1", "1.2#1", "1.3#1", "1.4#1"];

/** A world with a run on each slot. */
async function busy(...slots: readonly number[]): Promise<World> {
  const world = await World.scheduled(...slots);
  const count = slots.reduce((sum, one) => sum + one, 0);
  for (const run of runs.slice(0, count)) await world.run(run);
  await world.advance(2_000);
  return world;
}

function assertContinued(world: World, count: number): void {
  for (const run of runs.slice(0, count)) {
    expect(world.names(`allocation-${run}`)).toEqual([
      "AllocationQueued",
      "AllocationGranted",
      "AllocationStarted",
    ]);
  }
  const launched = world.agents.flatMap((agent) => agent.launched);
  expect(launched).toHaveLength(count);
  world.assertNothingOversubscribed();
}

function silence(world: World, silent: boolean): void {
  for (const agent of world.agents) agent.silent = silent;
}

describe("agents that fall silent together", () => {
  test("are not lost within the wait, their runs continue, and one event says so", async () => {
    await using world = await busy(2, 2);
    silence(world, true);
    await world.advance(35_000);
    expect(world.last("agent-a1", "AgentsSilent")).toEqual({
      agents: ["a1", "a2"],
      silent: 2,
      reason: "2 of 2 agents fell silent together",
      waitMs: limits.massSilenceWaitMs,
    });
    await world.advance(300_000);
    silence(world, false);
    await world.advance(3_000);
    expect(world.last("agent-a1", "AgentsHeard")).toEqual({ agents: ["a1", "a2"], silent: 0 });
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentsSilent", "AgentsHeard"]);
    expect(world.names("agent-a2")).toEqual(["AgentJoined"]);
    assertContinued(world, 4);
  });

  test("get no new runs meanwhile", async () => {
    await using world = await busy(1, 1);
    silence(world, true);
    world.named("a1").end("1.1#1", { code: 0 });
    await world.advance(35_000);
    const late = await world.agent("a3", 0);
    late.offer(1);
    await world.advance(1_000);
    await world.run("1.9#1");
    expect(world.last("allocation-1.9#1", "AllocationGranted").placements[0]?.agent).toBe("a3");
    await world.run("1.10#1");
    await world.advance(3_000);
    expect(world.last("allocation-1.10#1", "WaitExplained").detail).toContain(
      "a1 does not report: 2 of 2 agents fell silent together",
    );
  });

  test("are lost when they are silent after the wait", async () => {
    await using world = await busy(1, 1);
    silence(world, true);
    await world.advance(35_000);
    world.named("a2").silent = false;
    await world.advance(limits.massSilenceWaitMs - 10_000);
    expect(world.names("agent-a1")).not.toContain("AgentLost");
    await world.advance(15_000);
    expect(world.names("agent-a1")).toContain("AgentLost");
    expect(world.names("agent-a2")).not.toContain("AgentLost");
  });

  test("are waited for by the scheduler that takes over, too", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    for (const name of ["a1", "a2"]) await world.agent(name, 2);
    for (const run of runs) await world.run(run);
    await world.advance(2_000);
    silence(world, true);
    await world.advance(20_000);
    await world.stop(first);
    await world.scheduler();
    await world.advance(40_000);
    expect(world.names("agent-a1")).toContain("AgentsSilent");
    silence(world, false);
    await world.advance(3_000);
    assertContinued(world, 4);
  });

  test("are lost one by one if they are a third or fewer", async () => {
    await using world = await busy(1, 1, 0, 0, 0, 0);
    for (const name of ["a1", "a2"]) world.named(name).silent = true;
    await world.advance(35_000);
    for (const name of ["a1", "a2"]) expect(world.names(`agent-${name}`)).toContain("AgentLost");
  });
});

describe("a run whose agent is lost", () => {
  test("is taken back when the agent returns with it within two minutes", async () => {
    await using world = await busy(1);
    const agent = world.named("a1");
    agent.silent = true;
    await world.advance(limits.agentSilenceMs + limits.awayMaxMs - 5_000);
    agent.silent = false;
    await world.advance(3_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentLost", "AgentReturned"]);
    assertContinued(world, 1);
    agent.end("1.1#1", { code: 0 });
    await world.advance(1_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded").cause).toBe(AllocationEndCause.EXITED);
  });

  test("ends as it did when it ended while the agent was lost", async () => {
    await using world = await busy(1);
    const agent = world.named("a1");
    agent.silent = true;
    await world.advance(60_000);
    agent.end("1.1#1", { code: 0 });
    agent.silent = false;
    await world.advance(3_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.EXITED,
      exits: [{ code: 0 }],
    });
  });

  test("is taken back on several nodes, which were not ended", async () => {
    await using world = await World.scheduled(1, 1, 0, 0, 0, 0);
    await world.run("1.1#1", { slots: 2 });
    for (const name of ["a1", "a2"]) world.named(name).silent = true;
    await world.advance(60_000);
    expect(world.names("agent-a1").at(-1)).toBe("AgentLost");
    for (const name of ["a1", "a2"]) world.named(name).silent = false;
    await world.advance(3_000);
    expect(world.names("agent-a1")).toContain("AgentReturned");
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    expect(world.agents.flatMap((agent) => agent.launched)).toHaveLength(2);
  });

  test("ends at once if another of its nodes is alive, which hangs", async () => {
    await using world = await World.scheduled(1, 1, 0, 0, 0, 0);
    await world.run("1.1#1", { slots: 2 });
    world.named("a1").silent = true;
    await world.advance(limits.agentSilenceMs + 5_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded").message).toBe("the agent a1 was lost");
    await world.run("2.1#1");
    expect(world.names("allocation-2.1#1")).toContain("AllocationStarted");
  });

  test("ends two minutes after the loss in a full pool, also over a takeover, and its successor makes room", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const settings = { quotas: [], preemptExemptMs: 0, preemption: true };
    await world.agent("a1", 1);
    await send(world, "ConfigurePool", {
      pool: "default",
      policy: "priority",
      settings,
      create: false,
    });
    await world.run("1.1#1", { priority: 1 });
    await world.agent("a2", 1);
    await world.run("2.1#1", { priority: 90 });
    world.named("a1").silent = true;
    await world.advance(limits.agentSilenceMs + limits.awayMaxMs / 2);
    await world.stop(first);
    await world.scheduler();
    await world.run("3.1#1", { priority: 95 });
    await world.advance(limits.awayMaxMs / 2 - 5_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    await world.advance(limits.awayMaxMs / 2 + 5_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded").message).toBe("the agent a1 was lost");
    await world.run("1.1#2", { priority: 1 });
    await world.advance(3_000);
    expect(world.names("allocation-2.1#1")).toContain("AllocationStopRequested");
  });

  test.each(["stop", "removal"])("ends at once with its %s", async (what) => {
    await using world = await busy(1);
    world.named("a1").silent = true;
    await world.advance(60_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    if (what === "stop") await world.requestStop("1.1#1", StopMode.GRACEFUL, 60_000);
    else await send(world, "RemoveAgent", { agent: "a1", reason: "dead", force: false });
    await world.advance(1_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded").cause).toBe(
      AllocationEndCause.AGENT_LOST,
    );
  });

  test("ends alone if there is a place for one, and those behind it in the queue wait on", async () => {
    await using world = await busy(2);
    world.named("a1").silent = true;
    await world.advance(40_000);
    await world.run("2.1#1", { slots: 4 });
    await world.agent("a2", 1);
    await world.advance(1_000);
    // The run that follows one that has ended is delayed, and its place is not another's.
    await world.run("1.1#2", {}, { delayMs: 60_000 });
    await world.advance(30_000);
    const ended = runs.filter((run) =>
      world.names(`allocation-${run}`).includes("AllocationEnded"),
    );
    expect(ended).toEqual(["1.1#1"]);
    await world.advance(40_000);
    expect(world.names("allocation-1.1#2")).toContain("AllocationStarted");
    expect(world.names("allocation-1.2#1").at(-1)).toBe("AllocationStarted");
  });
});

describe("a start of the scheduler after everything was off", () => {
  test("waits for the first report of an agent with runs, whose runs continue", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.stop(first);
    agent.silent = true;
    await world.advance(120_000);
    await world.scheduler();
    await world.advance(60_000);
    expect(world.last("agent-a1", "AgentsSilent")).toMatchObject({ agents: ["a1"], silent: 1 });
    await world.advance(400_000);
    agent.silent = false;
    await world.advance(3_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentsSilent", "AgentsHeard"]);
    assertContinued(world, 1);
  });

  test("with a restored log ends a run that finished meanwhile as it did, with its checkpoints", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await world.agent("a1", 2);
    for (const run of ["1.1#1", "1.2#1"]) await world.run(run);
    await world.advance(2_000);
    const restore = world.log.store.backup();
    await world.advance(30_000);
    await world.stop(first);
    agent.silent = true;
    const sealed = { checkpoints: [{ checkpoint: "a", step: 100, bytes: 1 }] };
    agent.end("1.1#1", { code: 0 }, { sealed });
    await world.advance(90_000);
    restore();
    await world.scheduler();
    await world.advance(150_000);
    agent.silent = false;
    await world.advance(3_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.EXITED,
      sealed,
    });
    expect(world.names("allocation-1.2#1").at(-1)).toBe("AllocationStarted");
    expect(agent.launched).toHaveLength(2);
  });

  test("waits no longer than the grace, and not for an agent without runs", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    for (const name of ["a1", "a2", "a3", "a4"]) await world.agent(name, 1);
    await world.run("1.1#1");
    await world.advance(1_000);
    const held = world.agents.filter(({ held }) => held.size > 0);
    const idle = world.agents.find(({ held: { size } }) => size === 0);
    expect(held).toHaveLength(1);
    await world.stop(first);
    for (const one of [...held, idle]) if (one !== undefined) one.silent = true;
    await world.advance(120_000);
    await world.scheduler();
    await world.advance(40_000);
    const [running = idle] = held;
    expect(world.names(`agent-${running?.name}`)).not.toContain("AgentLost");
    await world.advance(limits.firstWordGraceMs);
    expect(world.names(`agent-${running?.name}`)).toContain("AgentLost");
  });

  test("which took the lease over within a minute waits as always", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.stop(first);
    agent.silent = true;
    await world.advance(50_000);
    await world.scheduler();
    await world.advance(35_000);
    expect(world.names("agent-a1")).toContain("AgentLost");
  });
});

/** The reasons of an experiment's runs, and their texts without times. */
async function explained(world: World): Promise<readonly string[]> {
  const reply = await send(world, "ExplainJob", { job: "1" });
  if (isRejection(reply)) throw new Error(reply.detail);
  return reply.runs.map(({ reason, detail }) => `${reason}: ${detail.replace(/\d+-\S+Z/g, "T")}`);
}

describe("people", () => {
  test("see that the agents of runs do not report, and end the wait by removing them", async () => {
    await using world = await busy(1, 1);
    silence(world, true);
    await world.advance(35_000);
    const together = "does not report (2 of 2 agents fell silent together)";
    const wait = "the scheduler waits for it until T, or until it is removed";
    expect(await explained(world)).toEqual([
      `agent_silent: its agent a1 ${together}: ${wait}`,
      `agent_silent: its agent a2 ${together}: ${wait}`,
    ]);
    await send(world, "RemoveAgent", { agent: "a1", reason: "dead", force: false });
    await world.advance(1_000);
    expect(world.names("agent-a1").at(-1)).toBe("AgentRemoved");
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationEnded");
    await world.advance(limits.massSilenceWaitMs);
    expect(await explained(world)).toEqual([
      "agent_lost: its agent a2 is lost since T: the run continues if the agent returns with it, and ends at T, or before when it fits elsewhere in its pool or the agent is removed",
    ]);
  });
});

describe("an agent that is gone", () => {
  const fits = async (world: World, slots: number) => {
    const resources = { pool: "default", slots, priority: 42, weight: 1, singleAgent: true };
    const reply = await send(world, "CheckPlace", { resources });
    if (isRejection(reply)) throw new Error(reply.detail);
    return reply.possible;
  };

  test("is forgotten when it was removed or lost for a week, unless it holds something", async () => {
    await using world = await World.scheduled(1, 4, 2, 2, 2, 2, 2, 2);
    await world.run("1.1#1", { slots: 4, singleAgent: true });
    await send(world, "RemoveAgent", { agent: "a1", reason: "sold", force: false });
    world.named("a1").silent = true;
    const disabled = { agent: "a3", slot: "", reason: "broken", drain: false, deadlineMs: 0 };
    await send(world, "DisableAgent", disabled);
    for (const name of ["a2", "a3"]) world.named(name).silent = true;
    await world.advance(40_000);
    expect([...world.fold().agents.keys()]).not.toContain("a1");
    expect(await fits(world, 4)).toBe(true);
    world.clock.skip(limits.forgetLostMs);
    await world.advance(10_000);
    expect(world.last("agent-a2", "AgentRemoved").reason).toBe("lost for 168 h, without runs");
    expect(world.names("agent-a3")).not.toContain("AgentRemoved");
    const fold = world.fold();
    expect([...fold.agents.keys()].filter((name) => ["a1", "a2", "a3"].includes(name))).toEqual([
      "a3",
    ]);
    expect(writeSnapshot(fold)).not.toContain('"a2"');
    expect(await fits(world, 4)).toBe(false);
    world.named("a2").silent = false;
    await world.advance(2_000);
    expect(world.names("agent-a2").slice(-3)).toContain("AgentJoined");
    expect(await fits(world, 4)).toBe(true);
  });
});
