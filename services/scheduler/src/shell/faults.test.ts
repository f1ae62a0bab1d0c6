/** The ends of failed runs name whose fault they are. */
import { AllocationEndCause, Fault, StopMode } from "@trainyard/contracts/events";
import { describe, expect, test } from "vitest";
import { limits } from "../limits.ts";
import { Hosts } from "../testing/hosts.ts";
import { World } from "../testing/world.ts";

describe("the platform", () => {
  test("is at fault when three experiments fail within a minute on several agents, and no agent is blamed", async () => {
    await using world = await World.scheduled(2, 2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a1", 1, 2, 3, 4, 5);
    expect(await hosts.fail("1.1#1", "a1")).toBe(Fault.SCRIPT);
    await world.run("2.1#1", { constraints: { excludedAgents: ["a1", "a2"] } } as never);
    world.named("a3").end("2.1#1", { code: 1 });
    await world.advance(1_000);
    expect(await hosts.fail("3.1#1", "a2")).toBe(Fault.PLATFORM);
    expect(await hosts.fail("4.1#1", "a1")).toBe(Fault.PLATFORM);
    await world.advance(limits.platformWindowMs);
    expect(await hosts.fail("5.1#1", "a2")).toBe(Fault.SCRIPT);
    expect([hosts.trust("a1"), hosts.trust("a2")]).toEqual([[], []]);
  });

  test("is not at fault when experiments fail of which no run has done well, but when runs fail that were up for a minute", async () => {
    await using world = await World.scheduled(4, 4);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 5);
    for (const run of ["1.1#1", "2.1#1", "3.1#1"]) await hosts.fail(run, "a1");
    expect(await hosts.fail("4.1#1", "a2")).toBe(Fault.SCRIPT);
    expect(await hosts.fail("5.1#1", "a1")).toBe(Fault.SCRIPT);
    const runs = [
      ["6.1#1", "a1"],
      ["7.1#1", "a2"],
      ["8.1#1", "a2"],
    ] as const;
    for (const [run, on] of runs) await hosts.start(run, on);
    await world.advance(limits.platformWindowMs + limits.hostProofMs);
    for (const [run, on] of runs) await hosts.end(run, on, 1);
    expect(runs.map(([run]) => hosts.faultOf(run))).toEqual([
      Fault.SCRIPT,
      Fault.SCRIPT,
      Fault.PLATFORM,
    ]);
  });

  test("is not at fault when they fail on one agent only", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2, 3);
    const faults = [];
    for (const run of ["1.1#1", "2.1#1"]) faults.push(await hosts.fail(run, "a1"));
    await world.advance(limits.distrustFirstMs);
    faults.push(await hosts.fail("3.1#1", "a1"));
    expect(faults).toEqual([Fault.SCRIPT, Fault.HOST, Fault.HOST]);
  });

  test("does not hide the agent on which most of the failures are", async () => {
    await using world = await World.scheduled(4, 4);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2, 3);
    await hosts.fail("1.1#1", "a2");
    await hosts.start("2.1#1", "a1");
    await hosts.start("3.1#1", "a1");
    await hosts.end("2.1#1", "a1", 1);
    await hosts.end("3.1#1", "a1", 1);
    expect(hosts.faultOf("3.1#1")).toBe(Fault.PLATFORM);
    expect(hosts.trust("a1")).toEqual(["AgentDistrusted"]);
  });

  test("is at fault when ends of the same moment are decided together", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2, 3);
    const runs = [
      ["1.1#1", "a1"],
      ["2.1#1", "a2"],
      ["3.1#1", "a2"],
    ] as const;
    for (const [run, on] of runs) await hosts.start(run, on);
    for (const [run, on] of runs) world.named(on).end(run, { code: 1 });
    await world.advance(1_000);
    expect(runs.map(([run]) => hosts.faultOf(run))).toContain(Fault.PLATFORM);
  });
});

describe("an end names its fault", () => {
  test("the host's if it was lost, the launch's host's, and nobody's after a stop or a success", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    for (const run of ["1.1#1", "2.1#1"]) await hosts.start(run, "a1");
    await hosts.end("1.1#1", "a1", 0);
    await world.requestStop("2.1#1", StopMode.KILL);
    await world.advance(1_000);
    await hosts.start("3.1#1", "a1");
    world.named("a1").failing = "no space left";
    await hosts.start("4.1#1", "a1");
    world.named("a1").silent = true;
    await world.agent("a3", 2);
    await world.advance(40_000);
    expect(world.last("allocation-3.1#1", "AllocationEnded").cause).toBe(
      AllocationEndCause.AGENT_LOST,
    );
    const faults = [1, 2, 3, 4].map((experiment) => hosts.faultOf(`${experiment}.1#1`));
    expect(faults).toEqual([undefined, undefined, Fault.HOST, Fault.HOST]);
  });
});
