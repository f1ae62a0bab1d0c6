/** Hosts are judged by the runs that fail there. */
import { EndReason, Fault, StopMode } from "@trainyard/contracts/events";
import { describe, expect, test } from "vitest";
import { readSnapshot, writeSnapshot } from "../core/cluster/snapshot.ts";
import { limits } from "../limits.ts";
import { Hosts } from "../testing/hosts.ts";
import { World } from "../testing/world.ts";

describe("an agent on which runs fail soon after their start", () => {
  test("is distrusted after two experiments without a success in between", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2);
    expect(await hosts.fail("1.1#1", "a1")).toBe(Fault.SCRIPT);
    expect(hosts.trust("a1")).toEqual([]);
    expect(await hosts.fail("2.1#1", "a1")).toBe(Fault.HOST);
    expect(world.last("agent-a1", "AgentDistrusted")).toEqual({
      failures: 2,
      experiments: ["1", "2"],
      reason: "no data",
      forMs: limits.distrustFirstMs,
    });
    const { agents } = world.fold().pool("default");
    expect(agents.freeSlots).toBe(2);
  });

  test("is distrusted again by one failure after it was tried again", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2, 3);
    for (const run of ["1.1#1", "2.1#1"]) await hosts.fail(run, "a1");
    await world.advance(limits.distrustFirstMs);
    expect(await hosts.fail("3.1#1", "a1")).toBe(Fault.HOST);
    expect(world.last("agent-a1", "AgentDistrusted").forMs).toBe(2 * limits.distrustFirstMs);
  });

  test("is not blamed for the trials of one experiment, which may fail by themselves", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    for (let trial = 1; trial <= 5; trial += 1) {
      expect(await hosts.fail(`1.${trial}#1`, "a1")).toBe(Fault.SCRIPT);
    }
    expect(hosts.trust("a1")).toEqual([]);
  });

  test("is not blamed for any number of experiments that have done well nowhere, also after it was tried again", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    for (let experiment = 1; experiment <= 20; experiment += 1) {
      expect(await hosts.fail(`${experiment}.1#1`, "a1")).toBe(Fault.SCRIPT);
    }
    await hosts.doWell("a1", 31);
    await hosts.doWell("a2", 32, 33);
    expect(hosts.trust("a1")).toEqual([]);
    for (const experiment of [32, 33]) await hosts.fail(`${experiment}.1#1`, "a1");
    await world.advance(limits.distrustFirstMs);
    expect(await hosts.fail("34.1#1", "a1")).toBe(Fault.SCRIPT);
    expect(hosts.trust("a1")).toEqual(["AgentDistrusted"]);
  });

  test("is distrusted for experiments that do well elsewhere later, also when the first has ended by then", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    for (const run of ["1.1#1", "2.1#1"]) await hosts.fail(run, "a1");
    await hosts.doWell("a2", 1);
    const deleted = { type: "ExperimentDeleted", data: {} } as const;
    await world.append("experiment-1", deleted);
    expect(world.fold().trusts.didWell.size).toBe(0);
    expect(hosts.trust("a1")).toEqual([]);
    await hosts.doWell("a2", 2);
    await world.advance(1_000);
    expect(hosts.trust("a1")).toEqual(["AgentDistrusted"]);
  });

  test("is distrusted for experiments that run elsewhere for long, at its next failure", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    for (const experiment of [1, 2]) {
      await hosts.fail(`${experiment}.1#1`, "a1");
      await hosts.start(`${experiment}.2#1`, "a2");
    }
    await world.advance(limits.hostProofMs);
    expect(hosts.trust("a1")).toEqual([]);
    expect(await hosts.fail("3.1#1", "a1")).toBe(Fault.HOST);
  });

  test("is distrusted after three trials of an experiment that then does well elsewhere", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    for (const trial of [1, 2, 3]) await hosts.fail(`1.${trial}#1`, "a1");
    await hosts.start("1.1#2", "a2");
    await hosts.end("1.1#2", "a2", 0);
    await world.advance(1_000);
    expect(hosts.trust("a1")).toEqual(["AgentDistrusted"]);
    expect(hosts.trust("a2")).toEqual([]);
  });

  test("is distrusted after three trials of an experiment that has done well elsewhere for a minute", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.start("1.9#1", "a2");
    for (const trial of [1, 2, 3]) {
      expect(await hosts.fail(`1.${trial}#1`, "a1")).toBe(Fault.SCRIPT);
    }
    await world.advance(limits.hostProofMs);
    expect(await hosts.fail("1.4#1", "a1")).toBe(Fault.HOST);
    expect(hosts.trust("a1")).toEqual(["AgentDistrusted"]);
  });

  test("is distrusted for launches and for failed runs together", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1);
    await hosts.fail("1.1#1", "a1");
    world.named("a1").failing = "no space left";
    await hosts.start("2.1#1", "a1");
    await world.advance(1_000);
    expect(hosts.trust("a1")).toEqual(["AgentDistrusted"]);
  });
});

describe("the failure of a script", () => {
  test("is taken from both agents when the trial fails on another agent, too", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2);
    await hosts.doWell("a1", 3);
    await hosts.fail("1.1#1", "a1");
    expect(await hosts.fail("1.1#2", "a2")).toBe(Fault.SCRIPT);
    await world.advance(limits.platformWindowMs);
    for (const on of ["a1", "a2"] as const) {
      expect(await hosts.fail(on === "a1" ? "2.1#1" : "3.1#1", on)).toBe(Fault.SCRIPT);
      expect(hosts.trust(on)).toEqual([]);
    }
  });

  test("of all that failed on a distrusted agent restores its trust", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2);
    for (const experiment of [1, 2]) await hosts.fail(`${experiment}.1#1`, "a1");
    await hosts.fail("1.1#2", "a2");
    expect(hosts.trust("a1")).toEqual(["AgentDistrusted"]);
    await hosts.fail("2.1#2", "a2");
    await world.advance(1_000);
    expect(world.last("agent-a1", "AgentTrusted")).toEqual({
      reason: "the runs that failed there fail elsewhere, too",
    });
    expect(hosts.trust("a2")).toEqual([]);
  });

  test("that caused a distrust restores the trust, also if scripts that did well nowhere failed there, too", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2);
    for (const experiment of [3, 1, 2]) await hosts.fail(`${experiment}.1#1`, "a1");
    expect(hosts.trust("a1")).toEqual(["AgentDistrusted"]);
    for (const experiment of [1, 2]) await hosts.fail(`${experiment}.1#2`, "a2");
    await world.advance(1_000);
    expect(hosts.trust("a1")).toEqual(["AgentDistrusted", "AgentTrusted"]);
  });

  test("does not count if it calls its hyperparameters invalid, or was asked to stop", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    const endRecord = { reason: EndReason.INVALID_HYPERPARAMETERS, message: "no" };
    for (const experiment of [1, 2]) {
      await hosts.start(`${experiment}.1#1`, "a1");
      world.named("a1").end(`${experiment}.1#1`, { code: 0 }, { endRecord });
      await hosts.start(`${experiment}.2#1`, "a1");
      await world.requestStop(`${experiment}.2#1`, StopMode.GRACEFUL);
      await hosts.end(`${experiment}.2#1`, "a1", 1);
      expect(hosts.faultOf(`${experiment}.1#1`)).toBe(Fault.SCRIPT);
    }
    expect(hosts.trust("a1")).toEqual([]);
  });
});

describe("the only usable agent of a pool", () => {
  test("is not distrusted for failed runs, but for failed launches", async () => {
    await using world = await World.scheduled(2);
    const a1 = world.named("a1");
    for (const experiment of [1, 2, 3]) {
      const run = `${experiment}.1#1`;
      await world.run(run);
      a1.end(run, { code: 1 });
      await world.advance(1_000);
      expect(world.last(`allocation-${run}`, "AllocationEnded").fault).toBe(Fault.SCRIPT);
    }
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
    a1.failing = "no space left";
    for (const run of ["4.1#1", "5.1#1"]) await world.run(run);
    await world.advance(1_000);
    expect(world.names("agent-a1")).toContain("AgentDistrusted");
  });

  test("is the one that is not distrusted yet", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2);
    await hosts.doWell("a1", 3, 4);
    for (const run of ["1.1#1", "2.1#1"]) await hosts.fail(run, "a1");
    await world.advance(1_000);
    for (const run of ["3.1#1", "4.1#1"]) await hosts.fail(run, "a2");
    await world.advance(1_000);
    expect([hosts.trust("a1"), hosts.trust("a2")]).toEqual([["AgentDistrusted"], []]);
  });
});

describe("a success on an agent", () => {
  const successes: Readonly<Record<string, (hosts: Hosts) => Promise<void>>> = {
    "that ended well": (hosts) => hosts.end("2.1#1", "a1", 0),
    "that is up for a minute": ({ world }) => world.advance(limits.hostProofMs),
    "that was stopped after a minute": async ({ world }) => {
      await world.advance(limits.hostProofMs);
      await world.requestStop("2.1#1", StopMode.KILL);
      await world.advance(1_000);
    },
    "that failed after a minute": async (hosts) => {
      await hosts.world.advance(limits.hostProofMs);
      await hosts.end("2.1#1", "a1", 1);
    },
  };
  test.each(Object.entries(successes))(
    "is a run %s, and clears what failed before it",
    async (_, succeed) => {
      await using world = await World.scheduled(2, 2);
      const hosts = new Hosts(world);
      await hosts.doWell("a2", 1, 3);
      await hosts.fail("1.1#1", "a1");
      await hosts.start("2.1#1", "a1");
      await succeed(hosts);
      expect(await hosts.fail("3.1#1", "a1")).toBe(Fault.SCRIPT);
      expect(hosts.trust("a1")).toEqual([]);
    },
  );

  test("is no run that was there before the failures, or has only started since", async () => {
    await using world = await World.scheduled(4, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2);
    await hosts.start("8.1#1", "a1");
    await world.advance(1_000);
    await hosts.fail("1.1#1", "a1");
    await hosts.start("9.1#1", "a1");
    await hosts.end("8.1#1", "a1", 0);
    expect(await hosts.fail("2.1#1", "a1")).toBe(Fault.HOST);
  });

  test("that is distrusted restores its trust, also in a restored fold", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    await hosts.doWell("a2", 1, 2);
    for (const run of ["1.1#1", "2.1#1"]) await hosts.fail(run, "a1");
    const saved = writeSnapshot(world.fold());
    expect(writeSnapshot(readSnapshot(saved))).toBe(saved);
    await world.advance(limits.distrustFirstMs);
    await hosts.start("3.1#1", "a1");
    await world.advance(limits.hostProofMs + 2_000);
    expect(hosts.trust("a1")).toEqual(["AgentDistrusted", "AgentTrusted"]);
  });
});

describe("a run on several agents", () => {
  test("is held against the agent on which it failed by itself, not against those where it was killed", async () => {
    await using world = await World.scheduled(1, 1, 1);
    const hosts = new Hosts(world);
    await hosts.doWell("a3", 1, 2);
    for (const run of ["1.1#1", "2.1#1"]) {
      await world.run(run, { slots: 3 });
      world.named("a1").end(run, { code: 1 });
      await world.advance(2_000);
    }
    const distrusted = ["a1", "a2", "a3"].filter((agent) =>
      world.names(`agent-${agent}`).includes("AgentDistrusted"),
    );
    expect(distrusted).toEqual(["a1"]);
  });

  test("is held against nobody if it failed on several", async () => {
    await using world = await World.scheduled(1, 1, 1);
    const hosts = new Hosts(world);
    await hosts.doWell("a3", 1, 2);
    for (const run of ["1.1#1", "2.1#1"]) {
      await world.run(run, { slots: 3 });
      for (const agent of ["a1", "a2", "a3"]) world.named(agent).end(run, { code: 1 });
      await world.advance(2_000);
      expect(world.last(`allocation-${run}`, "AllocationEnded").fault).toBe(Fault.SCRIPT);
    }
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
  });
});
