import { WantedState } from "@trainyard/contracts/agent";
import {
  AllocationEndCause,
  EndReason,
  StopMode,
  StopWhy,
  TaskOutcome,
} from "@trainyard/contracts/events";
import { isRejection } from "@trainyard/kernel";
import { atRest } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import type { ScriptedAgent } from "../testing/scripted-agent.ts";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";

const run = "t1#1";
const stream = `allocation-${run}`;

const kill = (world: World, allocation: string) =>
  world.append(`task-${allocation.split("#")[0]}`, {
    type: "RunStopRequested",
    data: { run: 1, mode: StopMode.KILL, why: StopWhy.KILL, graceMs: 0 },
  });

const ended = (world: World, task: string) =>
  world.append(`task-${task}`, {
    type: "TaskEnded",
    data: { outcome: TaskOutcome.COMPLETED, reason: "", restarts: 0 },
  });

const wanted = (agent: ScriptedAgent, allocation = run): WantedState | undefined =>
  agent.heard.at(-1)?.allocations.find((one) => one.allocation === allocation)?.state;

describe("a run of a task", () => {
  test("is a job of its own, is launched on one agent, and ends with its exit code", async () => {
    await using world = await World.scheduled(2);
    const environment = {
      environment_variables: { cpu: ["A=1"], cuda: [], rocm: [] },
      proxy_ports: [{ proxy_port: 8080, proxy_tcp: true }],
    };
    await world.task("t1", { environment });
    await world.run(run, { slots: 2 }, { preemptible: false, workspace: "lab", owner: "ada" });
    expect(world.last(stream, "AllocationQueued")).toMatchObject({
      task: "t1",
      job: "t1",
      run: 1,
      preemptible: false,
      workspace: "lab",
      owner: "ada",
    });
    const agent = world.named("a1");
    expect(agent.launched).toMatchObject([
      {
        allocation: run,
        task: { id: "t1", kind: "command" },
        experiment: "",
        trial: "",
        contextDigest: "abc",
        entrypoint: { case: "command", value: { arguments: ["sleep", "60"] } },
        environmentVariables: ["A=1"],
        proxyPorts: [{ port: 8080, isTcp: true }],
        slots: ["0", "1"],
        nodes: 1,
      },
    ]);
    expect(agent.launched[0]).not.toHaveProperty("hyperparameters");
    agent.end(run, { code: 3 });
    await atRest();
    expect(world.last(stream, "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.EXITED,
      exits: [{ code: 3 }],
    });
  });

  test("needs no entrypoint for a shell, and fails its launch without one for a command", async () => {
    await using world = await World.scheduled(1);
    await world.task("t1", { entrypoint: [] }, "shell");
    await world.task("t2", { entrypoint: "" });
    await world.run(run, { slots: 0 });
    await world.run("t2#1", { slots: 0 });
    await world.advance(2_000);
    const [launch] = world.named("a1").launched;
    expect(launch).toMatchObject({ task: { kind: "shell" }, entrypoint: { case: undefined } });
    expect(world.last("allocation-t2#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.LAUNCH_FAILED,
      message: "the configuration has no entrypoint",
    });
  });

  test("starts from the save that its request names, without an entrypoint for a notebook", async () => {
    await using world = await World.scheduled(1);
    const storage = { type: "s3", bucket: "saves" };
    await world.task("t1", { entrypoint: "", checkpoint_storage: storage }, "notebook");
    await world.run(run, {}, { fromCheckpoint: "c1", fromStep: 7 });
    const saved = { checkpointStorage: { type: "s3", place: { bucket: "saves" } } };
    expect(world.named("a1").launched).toMatchObject([
      { latestCheckpoint: "c1", stepsCompleted: 7, entrypoint: { case: undefined }, ...saved },
    ]);
  });

  test("is resumed as a job again after the task's end", async () => {
    await using world = await World.scheduled(1);
    await world.task("t1", {}, "notebook");
    await world.run(run);
    world.named("a1").end(run, { code: 0 });
    await atRest();
    await ended(world, "t1");
    await world.append("task-t1", { type: "TaskResumed", data: {} });
    await world.run("t1#2", {}, { fromCheckpoint: "c1" });
    expect(await send(world, "UpdateJob", { job: "t1", priority: 5 })).not.toHaveProperty(
      "rejected",
    );
    expect(world.named("a1").launched.at(-1)).toMatchObject({ run: 2, latestCheckpoint: "c1" });
  });

  test("has the idle timeout of its configuration, or else of the pool, or else of its kind", async () => {
    await using world = await World.scheduled(1);
    const served = { environment: { proxy_ports: [{ proxy_port: 80 }] } };
    const asked: readonly (readonly [string, string, object])[] = [
      ["t1", "notebook", {}],
      ["t2", "tensorboard", {}],
      ["t3", "notebook", { idle_timeout: 60 }],
      ["t4", "tensorboard", { idle_timeout: 0 }],
      ["t5", "command", { idle_timeout: 60 }],
      ["t6", "command", { idle_timeout: 60, ...served }],
    ];
    const launched = async (of: typeof asked) => {
      for (const [id, kind, config] of of) {
        await world.task(id, { ...config }, kind);
        await world.run(`${id}#1`, { slots: 0 });
      }
      await world.advance(1_000);
      const launches = new Map(world.named("a1").launched.map((one) => [one.task?.id, one.task]));
      return of.map(([id]) => launches.get(id)?.idleTimeoutSeconds);
    };
    expect(await launched(asked)).toEqual([undefined, 300, 60, undefined, undefined, 60]);
    const settings = { quotas: [], idleTimeoutMs: 1_800_000 };
    const pool = { pool: "default", policy: "priority", settings, create: false };
    await send(world, "ConfigurePool", pool);
    const later: typeof asked = [
      ["t7", "notebook", {}],
      ["t8", "tensorboard", {}],
      ["t9", "command", {}],
      ["t10", "shell", { idle_timeout: 0 }],
    ];
    expect(await launched(later)).toEqual([1_800, 1_800, undefined, undefined]);
  });

  test("that nobody uses has not failed, and says where its unsaved folder is", async () => {
    await using world = await World.scheduled(1);
    await world.run(run);
    const unsaved = "the folder is larger than 10 GiB: it is in /data/t1 on a1 for a week";
    const endRecord = { reason: EndReason.IDLE, message: "nobody used it for 30 minutes" };
    world.named("a1").end(run, { signal: "SIGTERM" }, { endRecord, unsaved });
    await atRest();
    const { fault, ...end } = world.last(stream, "AllocationEnded");
    expect([end, fault]).toMatchObject([{ endRecord, unsaved }, undefined]);
    expect(world.names("agent-a1")).not.toContain("AgentDistrusted");
  });

  test("is withdrawn from the queue or killed on its agent when its task is killed", async () => {
    await using world = await World.scheduled(1);
    await world.run(run);
    await world.run("t2#1");
    await kill(world, "t2#1");
    expect(world.last("allocation-t2#1", "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.WITHDRAWN,
    });
    await kill(world, run);
    await world.advance(1_000);
    expect(world.last(stream, "AllocationEnded")).toMatchObject({
      cause: AllocationEndCause.KILLED,
    });
  });

  test("makes room for others only if it is preemptible", async () => {
    for (const preemptible of [false, true]) {
      await using world = await World.scheduled(1);
      const settings = { quotas: [], preemptExemptMs: 0, preemption: true };
      const pool = { pool: "default", policy: "priority", settings, create: false };
      await send(world, "ConfigurePool", pool);
      await world.run(run, {}, { preemptible });
      await world.run("t2#1", { priority: 1 });
      await world.advance(1_000);
      const stops = world.names(stream).filter((name) => name === "AllocationStopRequested");
      expect(stops).toHaveLength(preemptible ? 1 : 0);
      expect(world.last("allocation-t2#1", "AllocationQueued").job).toBe("t2");
    }
  });

  test("is asked to stop at its time limit and by a drain", async () => {
    await using world = await World.scheduled(2);
    const agent = world.named("a1");
    await world.run(run, { timeLimitMs: 10_000, preemptionTimeoutMs: 5_000 });
    await world.run("t2#1");
    await world.advance(11_000);
    expect(world.last(stream, "AllocationStopRequested").why).toBe(StopWhy.TIME_LIMIT);
    expect(wanted(agent)).toBe(WantedState.STOP);
    await world.append("agent-a1", { type: "AgentDrainRequested", data: { reason: "" } });
    await world.advance(1_000);
    expect(world.last("allocation-t2#1", "AllocationStopRequested").why).toBe(StopWhy.DRAIN);
  });

  test("waits for its lost agent for two minutes, also if it fits elsewhere", async () => {
    await using world = await World.scheduled(1, 1);
    await world.run(run);
    const agent = world.named("a1");
    agent.silent = true;
    await world.advance(32_000 + 110_000);
    expect(world.names("agent-a1")).toContain("AgentLost");
    expect(world.names(stream)).not.toContain("AllocationEnded");
    await world.advance(12_000);
    expect(world.last(stream, "AllocationEnded").cause).toBe(AllocationEndCause.AGENT_LOST);
  });

  test("continues under the scheduler that takes over, also while its agent reports it", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run(run);
    await world.stop(first);
    await world.scheduler();
    await world.advance(3_000);
    expect(agent.launched).toHaveLength(1);
    agent.end(run, { code: 0 });
    await atRest();
    expect(world.names(stream).at(-1)).toBe("AllocationEnded");
    world.assertNothingOversubscribed();
  });
});

describe("the job of a task", () => {
  async function waiting(): Promise<World> {
    const world = await World.scheduled(1);
    for (const one of ["9.1#1", "1.1#1", "t1#1", "t2#1"]) await world.run(one);
    return world;
  }
  const order = async (world: World) => {
    const reply = await send(world, "GetJobs", { pool: "" });
    if (isRejection(reply)) throw new Error(reply.detail);
    return reply.jobs.map(({ job }) => job);
  };

  test("is listed, explained, changed and moved beside experiments", async () => {
    await using world = await waiting();
    expect(await order(world)).toEqual(["1", "t1", "t2", "9"]);
    await send(world, "MoveJob", { job: "t2", anchor: "1", ahead: true });
    expect(await order(world)).toEqual(["t2", "1", "t1", "9"]);
    await send(world, "UpdateJob", { job: "t1", priority: 5 });
    expect(await order(world)).toEqual(["t1", "t2", "1", "9"]);
    expect(await send(world, "ExplainJob", { job: "t1" })).toMatchObject({
      job: { job: "t1", priority: 5 },
      runs: [{ run: "t1#1" }],
    });
    expect(await send(world, "ExplainJob", { job: "t7" })).toMatchObject({
      rejected: "not_found",
      detail: "no run of task t7 waits or has a place",
    });
  });

  test("is forgotten with the changes of people when the task has ended", async () => {
    await using world = await waiting();
    await send(world, "UpdateJob", { job: "t1", priority: 5 });
    await kill(world, "t1#1");
    await ended(world, "t1");
    expect([...world.fold().pool("default").jobs.keys()]).not.toContain("t1");
    const late = await send(world, "UpdateJob", { job: "t1", priority: 6 });
    expect(late).toMatchObject({ rejected: "task_ended", detail: "task t1: the task has ended" });
    const unknown = await send(world, "MoveJob", { job: "t7", anchor: "1", ahead: true });
    expect(unknown).toMatchObject({ rejected: "task_not_found" });
  });
});
