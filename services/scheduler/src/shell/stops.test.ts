import { WantedState } from "@trainyard/contracts/agent";
import { AllocationEndCause, StopMode, StopWhy } from "@trainyard/contracts/events";
import { atRest } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import type { ScriptedAgent } from "../testing/scripted-agent.ts";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";

const run = "1.1#1";
const stream = `allocation-${run}`;

/** The state of the run in the agent's last list. */
function wanted(agent: ScriptedAgent, allocation = run): WantedState | undefined {
  return agent.heard.at(-1)?.allocations.find((one) => one.allocation === allocation)?.state;
}

async function running(resources: Parameters<World["run"]>[1] = {}) {
  const world = await World.scheduled(1);
  await world.run(run, resources);
  return { world, agent: world.named("a1") };
}

describe("a graceful stop", () => {
  test("asks the agent to stop the run, with the reason of the trial, a time limit or a drain", async () => {
    const { world, agent } = await running();
    await using _ = world;
    expect(wanted(agent)).toBe(WantedState.RUN);
    await world.requestStop(run, StopMode.GRACEFUL, 20_000);
    expect(wanted(agent)).toBe(WantedState.STOP);

    const limited = await running({ timeLimitMs: 10_000, preemptionTimeoutMs: 20_000 });
    await using _limited = limited.world;
    await limited.world.advance(9_000);
    expect(wanted(limited.agent)).toBe(WantedState.RUN);
    await limited.world.advance(2_000);
    expect(wanted(limited.agent)).toBe(WantedState.STOP);

    const drained = await running();
    await using _drained = drained.world;
    await drained.world.append("agent-a1", {
      type: "AgentDrainRequested",
      data: { reason: "" },
    });
    await drained.world.advance(1_000);
    expect(wanted(drained.agent)).toBe(WantedState.STOP);
  });

  test("waits for the launch of the run", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    agent.deaf = true;
    await world.run(run);
    await world.requestStop(run, StopMode.GRACEFUL, 20_000);
    agent.deaf = false;
    await world.advance(1_000);
    const states = agent.heard.flatMap(({ allocations }) => allocations.map(({ state }) => state));
    expect([...new Set(states)]).toEqual([WantedState.RUN, WantedState.STOP]);
  });

  test("of a run that gets SIGTERM is acknowledged at once, and any end of it is an end by the stop", async () => {
    const { world, agent } = await running();
    await using _ = world;
    agent.sendsSigterm = true;
    await world.requestStop(run, StopMode.GRACEFUL, 20_000);
    expect(world.names(stream).slice(3)).toEqual([
      "AllocationStopRequested",
      "AllocationStopAcknowledged",
    ]);
    agent.end(run, { signal: "SIGTERM" });
    await atRest();
    const end = world.last(stream, "AllocationEnded");
    expect(end).toMatchObject({
      cause: AllocationEndCause.EXITED,
      exits: [{ signal: "SIGTERM" }],
    });
    expect(end.fault).toBeUndefined();
    await world.run("1.2#1");
    expect(world.names("allocation-1.2#1")).toContain("AllocationStarted");
  });

  test("of a run that is not started any more ends it without a failure", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    agent.slowStart = true;
    await world.run(run);
    await world.requestStop(run, StopMode.GRACEFUL, 20_000);
    agent.end(run, {}, { terminated: true });
    await atRest();
    expect(world.names(stream).slice(2)).toEqual([
      "AllocationStopRequested",
      "AllocationStopAcknowledged",
      "AllocationEnded",
    ]);
    const end = world.last(stream, "AllocationEnded");
    expect([end.cause, end.fault]).toEqual([AllocationEndCause.EXITED, undefined]);
  });

  test("asks workers without the SDK only after a chief that uses it has ended", async () => {
    await using world = await World.scheduled(1, 1);
    await world.run(run, { slots: 2 });
    const [chief, worker] = [world.named("a1"), world.named("a2")];
    worker.sendsSigterm = true;
    await world.requestStop(run, StopMode.GRACEFUL, 3_600_000);
    expect([wanted(chief), wanted(worker)]).toEqual([WantedState.STOP, WantedState.RUN]);
    await world.advance(60_000);
    expect(world.names(stream)).not.toContain("AllocationStopAcknowledged");
    chief.end(run, { code: 0 });
    await world.advance(2_000);
    expect(wanted(worker)).toBe(WantedState.STOP);
  });

  test("lets the other nodes of a run end by themselves after the first has ended by SIGTERM", async () => {
    await using world = await World.scheduled(1, 1);
    await world.run(run, { slots: 2 });
    for (const agent of world.agents) agent.sendsSigterm = true;
    await world.requestStop(run, StopMode.GRACEFUL, 20_000);
    const [first, second] = [world.named("a1"), world.named("a2")];
    first.end(run, { code: 143 });
    await atRest();
    expect(wanted(second)).toBe(WantedState.STOP);
    second.end(run, { code: 0 });
    await atRest();
    expect(world.last(stream, "AllocationEnded").cause).toBe(AllocationEndCause.EXITED);
  });

  test("becomes a kill of a run that ignores SIGTERM when its grace is over", async () => {
    const { world, agent } = await running();
    await using _ = world;
    agent.sendsSigterm = true;
    await world.requestStop(run, StopMode.GRACEFUL, 2_000);
    await world.advance(2_000);
    expect(world.last(stream, "AllocationEnded").cause).toBe(AllocationEndCause.KILLED);
  });
});

describe("a stop that is withdrawn", () => {
  test("lets the run continue beyond the grace, and the run can be stopped again", async () => {
    const { world, agent } = await running();
    await using _ = world;
    await world.requestStop(run, StopMode.GRACEFUL, 2_000);
    await world.withdrawStop(run);
    expect(wanted(agent)).toBe(WantedState.RUN);
    await world.advance(10_000);
    expect(world.names(stream).slice(3)).toEqual([
      "AllocationStopRequested",
      "AllocationStopWithdrawn",
    ]);
    await world.requestStop(run, StopMode.GRACEFUL, 2_000);
    expect(wanted(agent)).toBe(WantedState.STOP);
    await world.advance(2_000);
    expect(world.last(stream, "AllocationEnded").cause).toBe(AllocationEndCause.KILLED);
  });

  test("leaves the scheduler's own stop with its own grace", async () => {
    const { world, agent } = await running({ timeLimitMs: 10_000, preemptionTimeoutMs: 20_000 });
    await using _ = world;
    await world.advance(11_000);
    await world.requestStop(run, StopMode.GRACEFUL, 1_000);
    await world.withdrawStop(run);
    expect(world.last(stream, "AllocationStopWithdrawn")).toEqual({ remains: StopWhy.TIME_LIMIT });
    expect(wanted(agent)).toBe(WantedState.STOP);
    await world.advance(15_000);
    expect(world.names(stream)).not.toContain("AllocationEnded");
    await world.advance(5_000);
    expect(world.last(stream, "AllocationEnded").cause).toBe(AllocationEndCause.KILLED);
  });

  test("makes the run a victim of others again", async () => {
    await using world = await World.scheduled(1);
    const agent = world.named("a1");
    const settings = { quotas: [], preemption: true };
    const pool = { pool: "default", policy: "priority", settings, create: false };
    await send(world, "ConfigurePool", pool);
    await world.run(run, { priority: 60 });
    await world.requestStop(run, StopMode.GRACEFUL, 60_000);
    await world.run("1.2#1", { priority: 10 });
    expect(world.last(stream, "AllocationStopRequested").why).toBe(StopWhy.PAUSE);
    await world.withdrawStop(run);
    await world.advance(130_000);
    expect(world.last(stream, "AllocationStopRequested").why).toBe(StopWhy.PREEMPTED);
    expect(wanted(agent)).toBe(WantedState.STOP);
  });

  test("is requested again if the run had got SIGTERM before", async () => {
    const { world, agent } = await running();
    await using _ = world;
    agent.sendsSigterm = true;
    agent.silent = true;
    await world.requestStop(run, StopMode.GRACEFUL, 20_000);
    await world.withdrawStop(run);
    agent.silent = false;
    agent.tell(run, { terminated: true });
    await world.advance(1_000);
    expect(world.names(stream).slice(3)).toEqual([
      "AllocationStopRequested",
      "AllocationStopWithdrawn",
      "AllocationStopRequested",
      "AllocationStopAcknowledged",
    ]);
    await world.withdrawStop(run);
    await world.advance(20_000);
    expect(world.last(stream, "AllocationEnded").cause).toBe(AllocationEndCause.KILLED);
  });
});
