import { createSecretKey } from "node:crypto";
import { WantedState } from "@trainyard/contracts/agent";
import {
  AllocationEndCause,
  EndReason,
  StopMode,
  StopWhy,
  WaitCode,
} from "@trainyard/contracts/events";
import { readRunToken } from "@trainyard/runtime";
import { atRest } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { tokenKey, World } from "../testing/world.ts";

describe("a run that is requested", () => {
  test("is placed, launched and started without any time passing, and ends with its exit", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 2);

    await world.run("1.1#1");

    expect(world.names("allocation-1.1#1")).toEqual([
      "AllocationQueued",
      "AllocationGranted",
      "AllocationStarted",
    ]);
    agent.end("1.1#1", { code: 0 });
    await atRest();
    const end = world.last("allocation-1.1#1", "AllocationEnded");
    expect(end.cause).toBe(AllocationEndCause.EXITED);
    expect(end.exits).toEqual([{ nodeRank: 0, agent: "a1", code: 0, signal: "", message: "" }]);
    expect([...agent.held.keys()]).toEqual([]);
  });

  test("is launched with all data that the agent needs", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 2);
    const environment = { environment_variables: ["A=1", "B=x=y"] };
    await world.experiment("1", { environment, entrypoint: ["python3", "train.py"] });

    await world.run("1.1#1", { slots: 2 });

    const [launch] = agent.launched;
    const grant = world.events("allocation-1.1#1").find(({ type }) => type === "AllocationGranted");
    expect(launch).toMatchObject({
      allocation: "1.1#1",
      experiment: "1",
      trial: "1.1",
      run: 1,
      entrypoint: { case: "command", value: { arguments: ["python3", "train.py"] } },
      hyperparameters: { rate: 0.5 },
      trialSeed: 9,
      latestCheckpoint: "",
      stepsCompleted: 0,
      contextDigest: "abc",
      environmentVariables: ["A=1", "B=x=y"],
      slots: ["0", "1"],
      nodeRank: 0,
      nodes: 1,
      masterAddress: "host-a1",
      nodeAddresses: ["host-a1"],
    });
    expect(grant?.data).toMatchObject({ masterPort: launch?.masterPort, tokenKey: tokenKey.id });
    const keys = new Map([[tokenKey.id, createSecretKey(tokenKey.secret)]]);
    expect(readRunToken(keys, launch?.token ?? "")).toEqual({
      allocation: "1.1#1",
      grantPosition: Number(launch?.grantPosition),
      grantId: world.log.store.events[Number(launch?.grantPosition) - 1]?.id,
    });
  });

  test("continues from the checkpoint that the request names", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#2", {}, { fromCheckpoint: "c-1", fromStep: 40 });
    expect(agent.launched[0]).toMatchObject({
      run: 2,
      latestCheckpoint: "c-1",
      stepsCompleted: 40,
    });
  });

  test("is not placed before its delay is over", async () => {
    await using world = await World.open();
    await world.scheduler();
    await world.agent("a1", 1);
    await world.run("1.1#1", {}, { delayMs: 5_000 });
    await world.advance(4_900);
    expect(world.names("allocation-1.1#1")).toEqual(["AllocationQueued"]);
    await world.advance(100);
    expect(world.names("allocation-1.1#1")).toContain("AllocationGranted");
  });

  test("ends as not launched when the agent cannot launch it, and when its streams allow no launch", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    agent.slowStart = true;
    await world.run("1.1#1");
    agent.end("1.1#1", { message: "the model code cannot be fetched" }, { launchFailed: true });
    await atRest();
    const end = world.last("allocation-1.1#1", "AllocationEnded");
    expect(end.cause).toBe(AllocationEndCause.LAUNCH_FAILED);
    expect(end.message).toBe("the model code cannot be fetched");
    expect(world.names("allocation-1.1#1")).not.toContain("AllocationStarted");

    await world.experiment("2", { entrypoint: "" });
    await world.run("2.1#1");
    const other = world.last("allocation-2.1#1", "AllocationEnded");
    expect(other.cause).toBe(AllocationEndCause.LAUNCH_FAILED);
    expect(other.message).toBe("the configuration has no entrypoint");
  });

  test("that ended before a report showed it running is recorded as started and ended", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    agent.slowStart = true;
    await world.run("1.1#1");
    agent.end("1.1#1", { code: 3 }, { pid: 7 });
    await atRest();
    expect(world.names("allocation-1.1#1").slice(-2)).toEqual([
      "AllocationStarted",
      "AllocationEnded",
    ]);
  });

  test("counts as lost when its end was not observed", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    agent.end("1.1#1", {});
    await atRest();
    expect(world.last("allocation-1.1#1", "AllocationEnded").cause).toBe(
      AllocationEndCause.AGENT_LOST,
    );
  });
});

describe("a stop", () => {
  test("withdraws a waiting run", async () => {
    await using world = await World.open();
    await world.scheduler();
    await world.run("1.1#1");
    await world.requestStop("1.1#1", StopMode.GRACEFUL, 1_000);
    expect(world.names("allocation-1.1#1")).toEqual(["AllocationQueued", "AllocationEnded"]);
    await world.agent("a1", 1);
    expect(world.last("allocation-1.1#1", "AllocationEnded").cause).toBe(
      AllocationEndCause.WITHDRAWN,
    );
  });

  test("that is graceful gives the run its grace, and kills it afterwards", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.requestStop("1.1#1", StopMode.GRACEFUL, 2_500);
    await world.advance(2_400);
    expect(agent.heard.flatMap(({ allocations }) => allocations)).not.toContainEqual(
      expect.objectContaining({ state: WantedState.KILL }),
    );
    await world.advance(100);
    expect(world.names("allocation-1.1#1").slice(3)).toEqual([
      "AllocationStopRequested",
      "AllocationStopRequested",
      "AllocationEnded",
    ]);
    const end = world.last("allocation-1.1#1", "AllocationEnded");
    expect(end.cause).toBe(AllocationEndCause.KILLED);
    expect(end.exits[0]?.signal).toBe("SIGKILL");
  });

  test("that is graceful and acknowledged ends the run by its exit", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.requestStop("1.1#1", StopMode.GRACEFUL, 60_000);
    const endRecord = { reason: EndReason.ACKNOWLEDGED_STOP, message: "" };
    agent.end("1.1#1", { code: 0 }, { endRecord });
    await atRest();
    expect(world.names("allocation-1.1#1").slice(-2)).toEqual([
      "AllocationStopAcknowledged",
      "AllocationEnded",
    ]);
    expect(world.last("allocation-1.1#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.EXITED,
      endRecord,
    });
  });

  test("that is a kill takes effect at once", async () => {
    await using world = await World.open();
    await world.scheduler();
    await world.agent("a1", 1);
    await world.run("1.1#1");
    await world.requestStop("1.1#1", StopMode.KILL);
    expect(world.last("allocation-1.1#1", "AllocationStopRequested").why).toBe(StopWhy.PAUSE);
    expect(world.last("allocation-1.1#1", "AllocationEnded").cause).toBe(AllocationEndCause.KILLED);
  });

  test("of the old run just before the new run is requested frees the slots only when its process has ended", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("1.1#1");
    agent.stubborn = true;
    await world.requestStop("1.1#1", StopMode.KILL);
    await world.run("1.1#2");
    await world.advance(3_000);
    expect(world.names("allocation-1.1#2")).not.toContain("AllocationGranted");
    agent.stubborn = false;
    await world.advance(1_000);
    expect(world.names("allocation-1.1#2")).toContain("AllocationStarted");
    world.assertNothingOversubscribed();
  });
});

describe("a run that waits", () => {
  test("records why: no agents, agents unavailable, no room, others ahead", async () => {
    await using world = await World.open();
    await world.scheduler();
    await world.run("1.1#1");
    await world.advance(2_000);
    expect(world.last("allocation-1.1#1", "WaitExplained").code).toBe(WaitCode.NO_AGENTS);

    const agent = await world.agent("a1", 1);
    await world.run("1.2#1");
    await world.run("1.3#1");
    await world.advance(3_000);
    expect(world.last("allocation-1.2#1", "WaitExplained")).toMatchObject({
      code: WaitCode.NOT_ENOUGH_FREE_SLOTS,
      detail: "the run needs 1 slot and 0 of 1 are free",
    });
    expect(world.last("allocation-1.3#1", "WaitExplained").code).toBe(WaitCode.BEHIND_OTHERS);

    agent.silent = true;
    await world.advance(100_000);
    expect(world.last("allocation-1.2#1", "WaitExplained").code).toBe(WaitCode.AGENTS_AWAY);
  });
});
