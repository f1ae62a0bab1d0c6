import { AllocationEndCause, StopMode } from "@trainyard/contracts/events";
import { atRest } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { World } from "../testing/world.ts";

describe("an agent that falls silent", () => {
  test("is lost after its window, and its run ends once it fits elsewhere", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1");
    agent.silent = true;
    await world.advance(29_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
    await world.advance(3_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentLost"]);
    await world.advance(60_000);
    expect(world.names("allocation-1.1#1")).not.toContain("AllocationEnded");
    await world.agent("a2", 1);
    await world.advance(1_000);
    const end = world.last("allocation-1.1#1", "AllocationEnded");
    expect(end.cause).toBe(AllocationEndCause.AGENT_LOST);
    expect(end.message).toBe("the agent a1 was lost");
  });

  test("is named in the log of the scheduler when it is lost and when it returns, with its run", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1");
    agent.silent = true;
    await world.advance(32_000);
    await world.agent("a2", 1);
    await world.advance(1_000);
    agent.silent = false;
    await world.advance(3_000);
    const news = world.lines.filter(({ msg }) => /^(agent|run|lease)_/.test(msg));
    expect(news).toMatchObject([
      { level: "warn", msg: "lease_acquired", lease: "scheduler/0" },
      { level: "warn", msg: "agent_lost", agent: "a1", why: "not heard for 31 s" },
      { level: "warn", msg: "run_lost_with_its_agent", allocation: "1.1#1" },
      { level: "warn", msg: "agent_returned", agent: "a1", runs: 1 },
    ]);
  });

  test("ends a run of several nodes, whose other nodes are killed first", async () => {
    await using world = await World.scheduled(1, 1);
    const a1 = world.named("a1");
    const a2 = world.named("a2");
    await world.run("1.1#1", { slots: 2 });
    a1.silent = true;
    a2.stubborn = true;
    await world.advance(40_000);
    expect(world.names("agent-a1")).toContain("AgentLost");
    await world.agent("a3", 1);
    await world.advance(2_000);
    expect(world.names("allocation-1.1#1")).not.toContain("AllocationEnded");
    a2.stubborn = false;
    await world.advance(1_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.AGENT_LOST,
      exits: [{ nodeRank: 1, signal: "SIGKILL" }],
      message: "the agent a1 was lost",
    });
  });

  test("has to kill an abandoned run with which it returns; its slots are free only afterwards", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1");
    agent.silent = true;
    await world.advance(35_000);
    await world.requestStop("1.1#1", StopMode.KILL);
    await world.run("1.1#2");

    agent.silent = false;
    agent.stubborn = true;
    await world.advance(3_000);
    expect(world.last("agent-a1", "AgentReturned").occupations).toEqual([
      { allocation: "1.1#1", slots: ["0"] },
    ]);
    expect(world.names("allocation-1.1#2")).not.toContain("AllocationGranted");

    agent.stubborn = false;
    await world.advance(1_000);
    expect(world.last("agent-a1", "SlotsCleared")).toEqual({ allocation: "1.1#1", slots: ["0"] });
    expect(world.names("allocation-1.1#2")).toContain("AllocationStarted");
    expect([...agent.held.keys()]).toEqual(["1.1#2"]);
    world.assertNothingOversubscribed();
  });

  test("names, when it returns, the checkpoints and the last validations of abandoned runs, even ended ones", async () => {
    await using world = await World.scheduled(2);
    const agent = world.named("a1");
    await world.run("1.1#1");
    await world.run("1.2#1");
    agent.silent = true;
    await world.advance(35_000);
    for (const run of ["1.1#1", "1.2#1"]) await world.requestStop(run, StopMode.KILL);
    const sealed = (checkpoint: string) => ({ checkpoints: [{ checkpoint, step: 1, bytes: 1 }] });
    const held = [...agent.held.keys()];
    expect(held.length).toBe(2);
    agent.end(held[0] ?? "", { code: 0 }, { sealed: sealed("a"), lastValidation: "0-7" });
    agent.leave(held[1] ?? "", sealed("b"));
    agent.silent = false;
    await world.advance(2_000);
    expect(world.last("agent-a1", "AgentReturned").left).toEqual({
      runs: [
        { allocation: held[0], ...sealed("a"), lastValidation: "0-7" },
        { allocation: held[1], ...sealed("b") },
      ],
    });
  });

  test("names no checkpoints of a run that continues there when it returns with an unknown run", async () => {
    await using world = await World.scheduled(2);
    const agent = world.named("a1");
    await world.run("1.1#1");
    agent.leave("1.1#1", { checkpoints: [{ checkpoint: "a", step: 1, bytes: 1 }] });
    agent.occupy("7.7#1", ["1"]);
    agent.report();
    await world.advance(2_000);
    expect(world.last("agent-a1", "AgentReturned").left).toBeUndefined();
    agent.end("1.1#1", { code: 0 });
    await world.advance(1_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded").sealed?.checkpoints).toEqual([
      { checkpoint: "a", step: 1, bytes: 1 },
    ]);
  });

  test("keeps its slots occupied until the process has ended, when it returns before its run has ended elsewhere", async () => {
    await using world = await World.scheduled(1, 1);
    const a1 = world.named("a1");
    const a2 = world.named("a2");
    await world.run("1.1#1", { slots: 2 });
    a1.silent = true;
    a1.stubborn = true;
    a2.stubborn = true;
    await world.advance(35_000);
    await world.requestStop("1.1#1", StopMode.KILL);
    a1.silent = false;
    await world.advance(2_000);
    await world.run("1.1#2", { slots: 2 });
    a2.stubborn = false;
    await world.advance(2_000);
    expect(world.names("allocation-1.1#1")).not.toContain("AllocationEnded");
    expect(world.names("allocation-1.1#2")).not.toContain("AllocationGranted");
    a1.stubborn = false;
    await world.advance(2_000);
    expect(world.names("allocation-1.1#1")).toContain("AllocationEnded");
    expect(world.names("allocation-1.1#2")).toContain("AllocationStarted");
    world.assertNothingOversubscribed();
  });

  test("has its slots free when it returns without its run, which has ended then", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1");
    agent.silent = true;
    await world.advance(35_000);
    agent.held.clear();
    agent.silent = false;
    agent.restart();
    await world.advance(2_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.AGENT_LOST,
      message: "the agent a1 no longer has the run",
    });
    await world.run("1.1#2");
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentLost", "AgentReturned"]);
    expect(world.names("allocation-1.1#2")).toContain("AllocationStarted");
  });

  test("has to kill an unknown run with which it returns, and its slots stay occupied until then", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    agent.occupy("9.9#9", ["0"]);
    agent.stubborn = true;
    await world.advance(1_000);
    await world.run("1.1#1");
    expect(world.names("allocation-1.1#1")).not.toContain("AllocationGranted");
    agent.stubborn = false;
    await world.advance(1_000);
    expect(world.names("allocation-1.1#1")).toContain("AllocationStarted");
    world.assertNothingOversubscribed();
  });
});

describe("an agent that runs what the log has lost", () => {
  test("keeps their slots occupied, even when the same run gets a place there again", async () => {
    await using world = await World.scheduled(3);
    const agent = world.named("a1");
    agent.occupy("1.1#1", ["2"]);
    agent.stubborn = true;
    await world.advance(1_000);
    await world.run("1.1#1");
    expect(world.last("allocation-1.1#1", "AllocationGranted").placements[0]?.slots).toEqual(["0"]);
    await world.run("1.2#1", { slots: 2 });
    await world.advance(1_000);
    expect(world.names("allocation-1.2#1")).not.toContain("AllocationGranted");
    world.assertNothingOversubscribed();
    agent.stubborn = false;
    await world.advance(3_000);
    expect(world.names("allocation-1.2#1")).toContain("AllocationStarted");
    world.assertNothingOversubscribed();
  });
});

describe("an agent process that is killed and starts again", () => {
  test("keeps its runs, and requests sent meanwhile are repeated", async () => {
    await using world = await World.scheduled(2);
    const agent = world.named("a1");
    await world.run("1.1#1");
    agent.silent = true;
    await world.run("1.2#1");
    await world.advance(10_000);
    agent.silent = false;
    agent.restart();
    await world.advance(1_000);
    expect(agent.launched.map(({ allocation }) => allocation)).toEqual(["1.1#1", "1.2#1"]);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
  });

  test("without its state folder has lost its runs", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1");
    agent.held.clear();
    agent.restart();
    await world.advance(1_000);
    expect(world.last("allocation-1.1#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.AGENT_LOST,
      message: "the agent a1 no longer has the run",
    });
  });

  test("joins with the new slots when it offers other ones", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1", { slots: 2 });
    agent.offer(2);
    agent.restart();
    await atRest();
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentJoined"]);
    expect(world.names("allocation-1.1#1")).toContain("AllocationStarted");
  });
});

describe("silence of NATS", () => {
  test("loses no agent, however long it lasts, and gives each a full window afterwards", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.run("1.1#1");
    world.hub.disconnect();
    await world.advance(300_000);
    agent.silent = true;
    world.hub.reconnect();
    await world.advance(29_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
    agent.silent = false;
    await world.advance(60_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
  });

  test("also counts when only the scheduler's own probe shows it, on a connection that is up but carries nothing", async () => {
    let mute = false;
    await using world = await World.open({ bus: { fate: () => (mute ? { copies: 0 } : {}) } });
    await world.scheduler();
    await world.agent("a1", 1);
    mute = true;
    await world.advance(300_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
    mute = false;
    await world.advance(60_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
  });

  test("for this process alone, which was paused, gives each agent a full window again", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    await world.advance(5_000);
    agent.silent = true;
    world.clock.skip(120_000);
    await world.advance(25_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
  });

  test("does not hide a dead agent, which is lost a window after the connection is back", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    world.hub.disconnect();
    agent.silent = true;
    await world.advance(60_000);
    world.hub.reconnect();
    await world.advance(35_000);
    expect(world.names("agent-a1")).toEqual(["AgentJoined", "AgentLost"]);
  });
});
