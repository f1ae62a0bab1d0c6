/** Only one agent acts under a name, and a run never has two processes: agent.proto, "The holder of a name". */
import { AllocationEndCause } from "@trainyard/contracts/events";
import { atRest } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import type { ScriptedAgent } from "../testing/scripted-agent.ts";
import { World } from "../testing/world.ts";

type Identity = NonNullable<ScriptedAgent["identity"]>;

async function start(world: World, client: string, identity: Identity): Promise<ScriptedAgent> {
  const agent = world.newAgent("rack", 1, client);
  agent.identity = identity;
  agent.address = `host-${client}`;
  await agent.start();
  await atRest();
  return agent;
}

const first = { folder: "f1", place: "p1", startedMs: 1_000 };
const other = { folder: "f2", place: "p2", startedMs: 2_000 };
const copy = { folder: "f1", place: "p2", startedMs: 2_000 };

const launchedBy = (agent: ScriptedAgent) => agent.launched.map(({ allocation }) => allocation);

describe("another folder's agent of the same name", () => {
  test("is refused with a sentence, launches nothing, and is recorded until it stops asking", async () => {
    await using world = await World.open();
    await world.scheduler();
    const holder = await start(world, "one", first);
    const second = await start(world, "two", other);
    await world.run("1.1#1");
    await world.advance(2_000);
    expect(launchedBy(holder)).toEqual(["1.1#1"]);
    expect(second.launched).toEqual([]);
    expect(second.nameTaken).toContain("the name rack is held by another agent, at host-one");
    expect(world.names("agent-rack")).toEqual(["AgentJoined", "AgentNameRefused"]);
    expect(world.last("agent-rack", "AgentNameRefused")).toMatchObject({ address: "host-two" });
    second.silent = true;
    await world.advance(40_000);
    expect(world.names("agent-rack").at(-1)).toBe("AgentNameCleared");
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
  });

  test("has its runs killed, and gets the name once the holder is lost", async () => {
    await using world = await World.open();
    await world.scheduler();
    const holder = await start(world, "one", first);
    await world.run("1.1#1");
    const second = world.newAgent("rack", 1, "two");
    second.identity = other;
    second.occupy("9.9#9", ["0"]);
    await second.start();
    await world.advance(2_000);
    expect(second.held.has("9.9#9")).toBe(false);
    holder.silent = true;
    await world.advance(25_000);
    expect(second.nameTaken).not.toBeNull();
    await world.advance(10_000);
    expect(second.nameTaken).toBeNull();
    expect(world.last("agent-rack", "AgentReturned")).toMatchObject(other);
    await world.run("1.2#1");
    expect(launchedBy(second)).toEqual(["1.2#1"]);
    holder.silent = false;
    await world.advance(2_000);
    expect(holder.nameTaken).not.toBeNull();
    expect(holder.held.size).toBe(0);
    world.assertNothingOversubscribed();
  });

  test("is refused by the next scheduler too, whichever of the two reports first", async () => {
    await using world = await World.open();
    const before = await world.scheduler();
    const holder = await start(world, "one", first);
    await world.run("1.1#1", { slots: 1 });
    const second = await start(world, "two", other);
    await world.stop(before);
    holder.silent = true;
    await world.scheduler();
    second.report();
    await world.advance(3_000);
    holder.silent = false;
    await world.advance(2_000);
    expect(second.launched).toEqual([]);
    expect(second.nameTaken).not.toBeNull();
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
  });
});

describe("a copy of a folder", () => {
  test("that starts later holds the name; the older one has its runs killed, and none is launched twice", async () => {
    await using world = await World.open();
    await world.scheduler();
    const older = await start(world, "one", first);
    await world.run("1.1#1");
    older.silent = true;
    const newer = await start(world, "two", copy);
    await world.advance(2_000);
    older.silent = false;
    await world.advance(2_000);
    expect(older.held.size).toBe(0);
    expect(older.nameTaken).toContain(
      "a later start from a copy of this state folder, at host-two",
    );
    expect(world.last("allocation-1.1#1", "AllocationEnded").cause).toBe(
      AllocationEndCause.AGENT_LOST,
    );
    await world.run("1.2#1");
    await world.advance(1_000);
    expect([launchedBy(older), launchedBy(newer)]).toEqual([["1.1#1"], ["1.2#1"]]);
    expect(world.names("agent-rack")).toEqual([
      "AgentJoined",
      "AgentReturned",
      "AgentJoined", // Its address is another.
      "AgentNameRefused",
    ]);
  });

  test("never gets a launch that may be under way to the original, even from the next scheduler", async () => {
    await using world = await World.open();
    const before = await world.scheduler();
    const original = await start(world, "one", first);
    original.silent = true;
    await world.run("1.1#1");
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationGranted");
    await world.stop(before);
    const newer = await start(world, "two", copy);
    await world.scheduler();
    await world.advance(3_000);
    expect(newer.launched).toEqual([]);
    expect(world.last("allocation-1.1#1", "AllocationEnded").cause).toBe(
      AllocationEndCause.AGENT_LOST,
    );
  });

  test("that started earlier is refused, even if it reports first to the next scheduler", async () => {
    await using world = await World.open();
    const before = await world.scheduler();
    const newer = await start(world, "two", copy);
    const older = await start(world, "one", first);
    await world.run("1.1#1");
    expect([launchedBy(older), launchedBy(newer)]).toEqual([[], ["1.1#1"]]);
    await world.stop(before);
    newer.silent = true;
    await world.scheduler();
    await world.run("1.2#1");
    older.report();
    await world.advance(3_000);
    newer.silent = false;
    newer.end("1.1#1", { code: 0 });
    await world.advance(3_000);
    expect([launchedBy(older), launchedBy(newer)]).toEqual([[], ["1.1#1", "1.2#1"]]);
    expect(older.nameTaken).not.toBeNull();
  });
});

describe("the holder of a name", () => {
  test("that restarts at its place continues without a record, and gets the launch that it missed", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await start(world, "one", first);
    agent.silent = true;
    await world.run("1.1#1");
    agent.silent = false;
    agent.restart();
    await world.advance(2_000);
    expect(launchedBy(agent)).toEqual(["1.1#1"]);
    expect(world.names("agent-rack")).toEqual(["AgentJoined"]);
  });

  test("gets its lists at once at its new place after its host has rebooted", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await start(world, "one", first);
    agent.identity = { ...first, place: "p1 after the boot" };
    agent.restart();
    await world.advance(1_000);
    await world.run("1.1#1");
    expect(launchedBy(agent)).toEqual(["1.1#1"]);
    expect(agent.nameTaken).toBeNull();
    expect(world.names("agent-rack")).toEqual(["AgentJoined", "AgentReturned"]);
  });
});
