import { Fault, RunEndWhy, StopWhy, TaskOutcome } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import { exit, runEnded, runStarted } from "../../testing/examples.ts";
import {
  killRequested,
  killStop,
  repeatedConfig,
  runFinished,
  taskCreated,
  taskDeleted,
  taskEnded,
  taskRun,
} from "../../testing/tasks.ts";
import type { EndTaskRun } from "./commands.ts";
import { taskDecider } from "./decide.ts";
import { evolveTask, initialTask } from "./evolve.ts";
import type { TaskEvent } from "./state.ts";

const delays = { firstMs: 1_000, lastMs: 300_000 };

function ending(why: RunEndWhy, overrides: Partial<EndTaskRun> = {}): EndTaskRun {
  const base = { run: 1, exits: [], message: "", atMs: 5_000, agents: ["a1"], stopWhy: null };
  return { kind: "end_run", why, ...base, delays, ...overrides };
}

const failing = ending(RunEndWhy.FAILED, {
  fault: Fault.SCRIPT,
  exits: [exit(3)],
  message: "node 0 exited with code 3",
});
const lost = ending(RunEndWhy.LOST, { fault: Fault.HOST, message: "agent a1 was lost" });
const started = { ...runStarted(1), data: { ...runStarted(1).data, allocation: "t12#1" } };
const open = [taskCreated(), taskRun(1), started] as const;
const repeated = [taskCreated(repeatedConfig), taskRun(1, { preemptible: true }), started] as const;

describe("a new task", () => {
  test("requests its first run with the resources of its configuration", () => {
    given(taskDecider)
      .when({ kind: "create", created: taskCreated().data })
      .then(taskCreated(), taskRun(1));
  });

  test("is preemptible only if its configuration says so", () => {
    given(taskDecider)
      .when({ kind: "create", created: taskCreated(repeatedConfig).data })
      .then(taskCreated(repeatedConfig), taskRun(1, { preemptible: true }));
  });

  test("is created once", () => {
    given(taskDecider, ...open)
      .when({ kind: "create", created: taskCreated().data })
      .thenNothing();
  });
});

describe("a run of a task", () => {
  test("is recorded as started once, and only while it is the unended one", () => {
    const start = { kind: "start_run", run: 1, allocation: "t12#1", atMs: 0 } as const;
    given(taskDecider, taskCreated(), taskRun(1)).when(start).then(started);
    given(taskDecider, ...open)
      .when(start)
      .thenNothing();
    given(taskDecider, taskCreated(), taskRun(1))
      .when({ ...start, run: 2 })
      .thenNothing();
  });

  test("that finishes ends the task as completed, with the exit code", () => {
    given(taskDecider, ...open)
      .when(ending(RunEndWhy.FINISHED, { exits: [exit(0)] }))
      .then(
        { ...runFinished(), data: { ...runFinished().data, exits: [exit(0)] } },
        taskEnded(TaskOutcome.COMPLETED, "finished", { exitCode: 0 }),
      );
  });

  test("that fails ends the task as failed, with the exit code", () => {
    given(taskDecider, ...open)
      .when(failing)
      .then(
        runEnded(1, RunEndWhy.FAILED, {
          exits: [exit(3)],
          message: failing.message,
          countsAsRestart: false,
          avoided: { agents: ["a1"] },
        }),
        taskEnded(TaskOutcome.FAILED, "run 1: node 0 exited with code 3", { exitCode: 3 }),
      );
  });

  test("that is lost ends the task, which by default is not run again", () => {
    expect(after(open, lost)).toEqual(["RunEnded", "TaskEnded"]);
  });

  test.each([failing, lost])("is repeated within max_restarts after %o", (first) => {
    const decided = decide(repeated, first);
    expect(decided).toMatchObject([
      { type: "RunEnded", data: { countsAsRestart: true, triesInRow: 1 } },
      {
        type: "RunRequested",
        data: { run: 2, delayMs: 1_000, avoided: { agents: ["a1"] }, preemptible: true },
      },
    ]);
  });

  test("ends the task once max_restarts is used up", () => {
    let events = [...repeated] as TaskEvent[];
    for (const run of [1, 2]) events = [...events, ...decide(events, { ...failing, run })];
    const [, last] = decide(events, { ...failing, run: 3 });
    const reason = "run 3: node 0 exited with code 3 (after 2 restarts)";
    expect(last).toEqual(taskEnded(TaskOutcome.FAILED, reason, { exitCode: 3, restarts: 2 }));
  });

  test("that was restarted once ends its task with the singular", () => {
    const once = taskCreated({ ...repeatedConfig, max_restarts: 1 });
    const events = [once, taskRun(1, { preemptible: true }), started] as TaskEvent[];
    const [, last] = decide([...events, ...decide(events, failing)], { ...failing, run: 2 });
    expect(last).toMatchObject({
      data: { reason: "run 2: node 0 exited with code 3 (after 1 restart)" },
    });
  });

  test.each([StopWhy.PREEMPTED, StopWhy.DRAIN])(
    "that was stopped for others (%i) is queued again without counting, if the task is preemptible",
    (stopWhy) => {
      for (const why of [RunEndWhy.ACKNOWLEDGED_STOP, RunEndWhy.KILLED]) {
        const stopped = ending(why, { stopWhy });
        expect(decide(repeated, stopped)).toMatchObject([
          { type: "RunEnded", data: { countsAsRestart: false } },
          { type: "RunRequested", data: { run: 2, delayMs: 0 } },
        ]);
        expect(after(open, stopped)).toEqual(["RunEnded", "TaskEnded"]);
      }
    },
  );

  test("that was drained ends a task that is not preemptible, with this reason", () => {
    const stopped = ending(RunEndWhy.ACKNOWLEDGED_STOP, { stopWhy: StopWhy.DRAIN });
    expect(decide(open, stopped).at(-1)).toMatchObject({
      data: { outcome: TaskOutcome.FAILED, reason: "its agent or slot was drained" },
    });
  });

  test("that reached its time limit ends the task, also a preemptible one", () => {
    const stopped = ending(RunEndWhy.KILLED, { stopWhy: StopWhy.TIME_LIMIT });
    expect(decide(repeated, stopped).at(-1)).toMatchObject({
      data: { outcome: TaskOutcome.FAILED, reason: "it reached its time limit" },
    });
  });

  test("is requested again without counting, a few times, if its launch waited for a service of the platform", () => {
    const away = { agents: [], silent: [], platformAway: true };
    const unlaunched = ending(RunEndWhy.LOST, { fault: Fault.PLATFORM, launchFailure: away });
    let events = [...open] as TaskEvent[];
    for (let run = 1; run <= limits.lostTriesMax; run += 1) {
      const decided = decide(events, { ...unlaunched, run });
      expect(decided.map(({ type }) => type)).toEqual(["RunEnded", "RunRequested"]);
      events = [...events, ...decided];
    }
    const last = decide(events, { ...unlaunched, run: limits.lostTriesMax + 1 });
    expect(last.at(-1)).toMatchObject({ type: "TaskEnded", data: { restarts: 0 } });
  });

  test("is tried once on each host that lacks its image for good, without counting", () => {
    const lacks = (agent: string, everywhere: boolean) => {
      const where = { agents: [agent], silent: [], platformAway: false, everywhere };
      const launchFailure = { ...where, lacking: true, lasting: true };
      const message = "the image is not on this host";
      return ending(RunEndWhy.LOST, { fault: Fault.HOST, launchFailure, message });
    };
    const first = decide([...open], lacks("a1", false));
    expect(first.at(-1)).toMatchObject({
      type: "RunRequested",
      data: { run: 2, delayMs: 1_000, resources: { constraints: { excludedAgents: ["a1"] } } },
    });
    const last = decide([...open, ...first], { ...lacks("a2", true), run: 2 });
    expect(last.at(-1)).toMatchObject({
      type: "TaskEnded",
      data: {
        outcome: TaskOutcome.FAILED,
        restarts: 0,
        reason:
          "no agent that could hold the run has what it needs (a1, a2); run 2: the image is not on this host",
      },
    });
  });

  test("ends once: later reports of it and of earlier runs change nothing", () => {
    given(taskDecider, ...open, runFinished(), taskEnded(TaskOutcome.COMPLETED, "finished"))
      .when(failing)
      .thenNothing();
    given(taskDecider, ...repeated, runEnded(1, RunEndWhy.LOST), taskRun(2))
      .when(lost)
      .thenNothing();
  });
});

describe("killing a task", () => {
  test("stops its run at once, and its end is recorded as killed", () => {
    given(taskDecider, ...open)
      .when({ kind: "kill", reason: "enough" })
      .then(killRequested("enough"), killStop(1));
    const asked = [...open, killRequested("enough"), killStop(1)];
    const killed = ending(RunEndWhy.KILLED, { stopWhy: StopWhy.KILL, exits: [exit(0, "SIGKILL")] });
    expect(decide(asked, killed).at(-1)).toEqual(taskEnded(TaskOutcome.KILLED, "enough"));
    const withdrawn = ending(RunEndWhy.WITHDRAWN);
    expect(decide(asked, withdrawn).at(-1)).toEqual(taskEnded(TaskOutcome.KILLED, "enough"));
  });

  test("does not repeat a preemptible task or one with restarts left", () => {
    const asked = [...repeated, killRequested(), killStop(1)];
    for (const one of [failing, lost, ending(RunEndWhy.KILLED, { stopWhy: StopWhy.PREEMPTED })]) {
      expect(decide(asked, one).at(-1)).toMatchObject({ data: { outcome: TaskOutcome.KILLED } });
    }
  });

  test("comes too late for a run that has finished", () => {
    const asked = [...open, killRequested(), killStop(1)];
    expect(decide(asked, ending(RunEndWhy.FINISHED)).at(-1)).toMatchObject({
      data: { outcome: TaskOutcome.COMPLETED },
    });
  });

  test("is refused for an unknown task, and changes nothing twice or after the end", () => {
    const kill = { kind: "kill", reason: "" } as const;
    given(taskDecider).when(kill).thenRejected("task_not_found");
    given(taskDecider, ...open, killRequested(), killStop(1))
      .when(kill)
      .thenNothing();
    given(taskDecider, ...open, runFinished(), taskEnded(TaskOutcome.COMPLETED, ""))
      .when(kill)
      .thenNothing();
  });
});

describe("deleting a task", () => {
  const ended = [...open, runFinished(), taskEnded(TaskOutcome.COMPLETED, "finished")];

  test("is possible once, after its end", () => {
    given(taskDecider, ...ended)
      .when({ kind: "delete" })
      .then(taskDeleted);
    given(taskDecider, ...ended, taskDeleted)
      .when({ kind: "delete" })
      .thenNothing();
  });

  test("is refused before its end, and for an unknown task", () => {
    given(taskDecider, ...open)
      .when({ kind: "delete" })
      .thenRejected("task_not_ended");
    given(taskDecider).when({ kind: "delete" }).thenRejected("task_not_found");
  });
});

function decide(events: readonly TaskEvent[], command: Parameters<typeof taskDecider.decide>[1]) {
  const decided = taskDecider.decide(events.reduce(evolveTask, initialTask), command);
  if (!Array.isArray(decided)) throw new Error(`refused: ${JSON.stringify(decided)}`);
  return decided as TaskEvent[];
}

function after(events: readonly TaskEvent[], command: EndTaskRun): readonly string[] {
  return decide(events, command).map(({ type }) => type);
}
