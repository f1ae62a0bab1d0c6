/** Hosts are judged by the runs that fail there, and ends of runs name whose fault they are. */
import { AllocationEndCause, EndReason, Fault, StopMode } from "@trainyard/contracts/events";
import { describe, expect, test } from "vitest";
import { readSnapshot, writeSnapshot } from "../core/cluster/snapshot.ts";
import { limits } from "../limits.ts";
import { World } from "../testing/world.ts";

const others = { a1: "a2", a2: "a1" } as const;
type Name = keyof typeof others;

/** Two agents, and runs that are placed on one of them. */
class Hosts {
  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  async start(run: string, on: Name): Promise<void> {
    const constraints = { requiredLabels: [], excludedAgents: [others[on]] };
    await this.world.run(run, { constraints } as never);
    expect(this.world.last(`allocation-${run}`, "AllocationGranted").placements[0]?.agent).toBe(on);
  }

  async end(run: string, on: Name, code: number): Promise<void> {
    this.world.named(on).end(run, { code, message: code === 0 ? "" : "no data" });
    await this.world.advance(1_000);
  }

  async fail(run: string, on: Name): Promise<Fault | undefined> {
    await this.start(run, on);
    await this.end(run, on, 1);
    return this.faultOf(run);
  }

  faultOf(run: string): Fault | undefined {
    return this.world.last(`allocation-${run}`, "AllocationEnded").fault;
  }

  /** Returns the events about the trust of an agent. */
  trust(on: Name): readonly string[] {
    const names = this.world.names(`agent-${on}`);
    return names.filter((name) => name === "AgentDistrusted" || name === "AgentTrusted");
  }
}

describe("an agent on which runs fail soon after their start", () => {
  test("is distrusted after two experiments without a success in between", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
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
    for (const run of ["1.1#1", "2.1#1"]) {
      await world.run(run, { slots: 3 });
      for (const agent of ["a1", "a2", "a3"]) world.named(agent).end(run, { code: 1 });
      await world.advance(2_000);
      expect(world.last(`allocation-${run}`, "AllocationEnded").fault).toBe(Fault.SCRIPT);
    }
    expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
  });
});

describe("the platform", () => {
  test("is at fault when three experiments fail within a minute on several agents, and no agent is blamed", async () => {
    await using world = await World.scheduled(2, 2, 2);
    const hosts = new Hosts(world);
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

  test("is not at fault when they fail on one agent only", async () => {
    await using world = await World.scheduled(2, 2);
    const hosts = new Hosts(world);
    const faults = [];
    for (const run of ["1.1#1", "2.1#1"]) faults.push(await hosts.fail(run, "a1"));
    await world.advance(limits.distrustFirstMs);
    faults.push(await hosts.fail("3.1#1", "a1"));
    expect(faults).toEqual([Fault.SCRIPT, Fault.HOST, Fault.HOST]);
  });

  test("does not hide the agent on which most of the failures are", async () => {
    await using world = await World.scheduled(4, 4);
    const hosts = new Hosts(world);
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
