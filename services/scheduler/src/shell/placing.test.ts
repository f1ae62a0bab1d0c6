import { StopMode } from "@trainyard/contracts/events";
import { atRest } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { askCapacity, World } from "../testing/world.ts";

describe("places", () => {
  test("are given by priority, then by arrival, in whatever order slots become free", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.run("1.2#1");
    await world.run("1.3#1");
    await world.run("2.1#1", { priority: 1 });
    await world.run("1.4#1", { priority: 99 });
    const order: string[] = [];
    for (let ends = 0; ends < 5; ends += 1) {
      const running = agent.launched.at(-1)?.allocation ?? "";
      order.push(running);
      agent.end(running, { code: 0 });
      await atRest();
    }
    expect(order).toEqual(["1.1#1", "2.1#1", "1.2#1", "1.3#1", "1.4#1"]);
    world.assertNothingOversubscribed();
  });

  test("of several agents are given all or none, with ranks, addresses and one port", async () => {
    await using world = await World.open();
    await world.scheduler();
    const a1 = await world.agent("a1", 2);
    await world.run("1.1#1", { slots: 4 });
    expect(world.names("allocation-1.1#1")).toEqual(["AllocationQueued"]);
    const a2 = await world.agent("a2", 2);

    const { placements, masterAddress, masterPort } = world.last(
      "allocation-1.1#1",
      "AllocationGranted",
    );
    expect(placements).toEqual([
      { agent: "a1", slots: ["0", "1"], nodeRank: 0, address: "host-a1" },
      { agent: "a2", slots: ["0", "1"], nodeRank: 1, address: "host-a2" },
    ]);
    expect(masterAddress).toBe("host-a1");
    const launches = [a1.launched[0], a2.launched[0]];
    expect(launches.map((launch) => launch?.nodeRank)).toEqual([0, 1]);
    expect(new Set(launches.map((launch) => launch?.masterPort))).toEqual(new Set([masterPort]));
    expect(launches.map((launch) => launch?.nodes)).toEqual([2, 2]);
    expect(world.last("allocation-1.1#1", "AllocationStarted").starts).toHaveLength(2);
  });

  test("are all on one agent for a run that must not be split", async () => {
    await using world = await World.open();
    await world.scheduler();
    await world.agent("a1", 2);
    await world.agent("a2", 2);
    await world.run("1.1#1", { slots: 3, singleAgent: true });
    expect(world.names("allocation-1.1#1")).toEqual(["AllocationQueued"]);
    await world.agent("a3", 3);
    expect(world.last("allocation-1.1#1", "AllocationGranted").placements).toMatchObject([
      { agent: "a3" },
    ]);
  });

  test("of runs without slots are given on full agents too", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.run("2.1#1", { slots: 0 });
    await world.run("2.2#1", { slots: 0 });
    expect(agent.launched.map(({ allocation, slots }) => [allocation, slots])).toEqual([
      ["1.1#1", ["0"]],
      ["2.1#1", []],
      ["2.2#1", []],
    ]);
  });

  test("on one host have ports of their own, even for agents that share its address", async () => {
    await using world = await World.open();
    await world.scheduler();
    for (const name of ["a1", "a2"]) (await world.agent(name, 20)).address = "127.0.0.1";
    await world.advance(1_000);
    for (let n = 1; n <= 40; n += 1) await world.run(`1.${n}#1`);
    const ports = Array.from(
      { length: 40 },
      (_, n) => world.last(`allocation-1.${n + 1}#1`, "AllocationGranted").masterPort,
    );
    expect(new Set(ports).size).toBe(40);
    // Each port is followed by three more of the same run.
    expect(new Set(ports.map((port) => port % 4))).toEqual(new Set([0]));
  });

  test("of a failed node become free once all nodes of the run have ended", async () => {
    await using world = await World.open();
    await world.scheduler();
    const a1 = await world.agent("a1", 1);
    const a2 = await world.agent("a2", 1);
    await world.run("1.1#1", { slots: 2 });
    a1.stubborn = true;
    a2.end("1.1#1", { code: 1, message: "ended with code 1" });
    await world.advance(2_000);
    expect(world.names("allocation-1.1#1")).not.toContain("AllocationEnded");
    a1.stubborn = false;
    await world.advance(1_000);
    const end = world.last("allocation-1.1#1", "AllocationEnded");
    expect(end.exits).toMatchObject([
      { nodeRank: 0, signal: "SIGKILL" },
      { nodeRank: 1, code: 1 },
    ]);
    expect(end.message).toBe("node 1 on a2: ended with code 1");
  });
});

describe("messages", () => {
  test("end when nothing changes: a report with an unchanged list gets no answer", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.advance(5_000);
    const before = agent.heard.length;
    await world.advance(10_000);
    expect(agent.heard.length - before).toBe(10);
  });

  test("that were lost are repeated at the next beat", async () => {
    let losing = true;
    const fate = ({ subject }: { subject: string }) =>
      losing && subject.startsWith("ty.agent.") ? { copies: 0 } : {};
    await using world = await World.open({ bus: { fate } });
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    losing = false;
    await world.advance(1_000);
    losing = true;
    await world.run("1.1#1");
    await world.requestStop("1.1#1", StopMode.GRACEFUL, 0);
    expect(agent.launched).toHaveLength(0);
    losing = false;
    await world.advance(2_000);
    expect(agent.launched).toHaveLength(1);
    expect(world.names("allocation-1.1#1")).toContain("AllocationStarted");
  });

  test("that are repeated and reordered change nothing", async () => {
    let n = 0;
    const fate = ({ kind }: { kind: string }) => {
      n += 1;
      return kind === "message" ? { copies: 2, delayMs: n % 3 === 0 ? 40 : 0 } : {};
    };
    await using world = await World.open({ bus: { fate } });
    await world.scheduler();
    const agent = await world.agent("a1", 2);
    for (let trial = 1; trial <= 6; trial += 1) await world.run(`1.${trial}#1`);
    await world.advance(2_000);
    for (let trial = 1; trial <= 6; trial += 1) {
      agent.end(`1.${trial}#1`, { code: 0 });
      await world.advance(2_000);
    }
    expect(agent.launched).toHaveLength(6);
    for (let trial = 1; trial <= 6; trial += 1) {
      const names = world.names(`allocation-1.${trial}#1`);
      expect(names.filter((name) => name !== "WaitExplained")).toEqual([
        "AllocationQueued",
        "AllocationGranted",
        "AllocationStarted",
        "AllocationEnded",
      ]);
    }
    world.assertNothingOversubscribed();
  });
});

describe("the capacity of a pool", () => {
  test("counts every agent that ever joined, and says which ones are present", async () => {
    await using world = await World.open();
    await world.scheduler();
    expect(await askCapacity(world)).toMatchObject({ slotsEver: 0, agentsKnown: 0 });
    const gone = await world.agent("a1", 4);
    await world.agent("a2", 2);
    gone.silent = true;
    await world.advance(40_000);
    expect(await askCapacity(world)).toEqual({
      pool: "default",
      slotsEver: 6,
      slotsOfLargest: 4,
      agentsKnown: 2,
      agentsPresent: 1,
    });
  });
});
