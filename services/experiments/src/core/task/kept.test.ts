/** Tests of tasks that keep their work: they are paused, resumed, and continue from their saves. */
import { Fault, RunEndWhy, StopWhy, TaskOutcome } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import { exit, runEnded, runStarted } from "../../testing/examples.ts";
import {
  killRequested,
  pauseRequested,
  pauseStop,
  taskConfig,
  taskCreated,
  taskEnded,
  taskResumed,
  taskRun,
  taskSaved,
} from "../../testing/tasks.ts";
import type { EndTaskRun } from "./commands.ts";
import { taskDecider } from "./decide.ts";
import { evolveTask, initialTask } from "./evolve.ts";
import type { TaskEvent } from "./state.ts";

const delays = { firstMs: 1_000, lastMs: 300_000 };
const started = runStarted(1);
const open: readonly TaskEvent[] = [taskCreated(taskConfig, "notebook"), taskRun(1), started];
const command: readonly TaskEvent[] = [taskCreated(), taskRun(1), started];
const pausing = [...open, pauseRequested("lunch"), pauseStop(1)];
const save = taskSaved("c1", 1, 7);
const paused = [
  ...open,
  save,
  pauseRequested("lunch"),
  pauseStop(1),
  runEnded(1, RunEndWhy.ACKNOWLEDGED_STOP),
  taskEnded(TaskOutcome.PAUSED, "lunch"),
];
const sealed = [{ checkpoint: "c2", step: 8, bytes: 0 }];
const resume = { kind: "resume" } as const;
const request = (from: { checkpoint: string; step: number } | null) =>
  ({ kind: "request_run", from, delays }) as const;

function ending(why: RunEndWhy, overrides: Partial<EndTaskRun> = {}): EndTaskRun {
  const base = { run: 1, exits: [], message: "", atMs: 5_000, agents: ["a1"], stopWhy: null };
  return { kind: "end_run", why, ...base, delays, ...overrides };
}

const acknowledged = (stopWhy: StopWhy, more: Partial<EndTaskRun> = {}) =>
  ending(RunEndWhy.ACKNOWLEDGED_STOP, { stopWhy, ...more });

function decide(events: readonly TaskEvent[], one: Parameters<typeof taskDecider.decide>[1]) {
  const decided = taskDecider.decide(events.reduce(evolveTask, initialTask), one);
  if (!Array.isArray(decided)) throw new Error(`refused: ${JSON.stringify(decided)}`);
  return decided as TaskEvent[];
}

describe("pausing a task", () => {
  const pause = { kind: "pause", reason: "lunch" } as const;

  test("stops its run with time for a save, and its end is recorded as paused", () => {
    given(taskDecider, ...open)
      .when(pause)
      .then(pauseRequested("lunch"), pauseStop(1));
    given(taskDecider, ...pausing)
      .when(pause)
      .thenNothing();
    for (const why of [RunEndWhy.ACKNOWLEDGED_STOP, RunEndWhy.KILLED, RunEndWhy.FINISHED]) {
      const ended = ending(why, { stopWhy: StopWhy.PAUSE, exits: [exit(0)] });
      expect(decide(pausing, ended).at(-1)).toEqual(
        taskEnded(TaskOutcome.PAUSED, "lunch", { exitCode: 0 }),
      );
    }
    expect(decide(pausing, ending(RunEndWhy.WITHDRAWN)).at(-1)).toEqual(
      taskEnded(TaskOutcome.PAUSED, "lunch"),
    );
  });

  test("is refused for a task that keeps nothing, and changes nothing after a kill or the end", () => {
    given(taskDecider, ...command)
      .when(pause)
      .thenRejected("work_not_kept");
    given(taskDecider).when(pause).thenRejected("task_not_found");
    given(taskDecider, ...open, killRequested())
      .when(pause)
      .thenNothing();
    given(taskDecider, ...paused)
      .when(pause)
      .thenNothing();
  });

  test("does not hide that the run was lost", () => {
    const lost = ending(RunEndWhy.LOST, { fault: Fault.HOST, message: "agent a1 was lost" });
    expect(decide(pausing, lost).at(-1)).toMatchObject({
      data: { outcome: TaskOutcome.FAILED, reason: "run 1: agent a1 was lost" },
    });
  });

  test("ends a task at once that waits for its saves, and so does a kill", () => {
    const drained = decide(open, acknowledged(StopWhy.DRAIN, { left: { sealed, atMs: 5_000 } }));
    const waiting = [...open, ...drained];
    given(taskDecider, ...waiting)
      .when(pause)
      .then(pauseRequested("lunch"), taskEnded(TaskOutcome.PAUSED, "lunch"));
    given(taskDecider, ...waiting)
      .when({ kind: "kill", reason: "" })
      .then(killRequested(), taskEnded(TaskOutcome.KILLED, "killed"));
  });
});

describe("resuming a task", () => {
  test("continues it with a run that starts from its latest save", () => {
    given(taskDecider, ...paused)
      .when(resume)
      .then(taskResumed);
    given(taskDecider, ...paused, taskResumed)
      .when(request({ checkpoint: "c1", step: 7 }))
      .then(taskRun(2, { fromCheckpoint: "c1", fromStep: 7 }));
  });

  test("is refused if nothing was saved, for a task that keeps nothing, and while it is being stopped", () => {
    const lost = [...open, runEnded(1, RunEndWhy.LOST), taskEnded(TaskOutcome.FAILED, "lost")];
    given(taskDecider, ...lost)
      .when(resume)
      .thenRejected("nothing_saved");
    given(taskDecider, ...command, runEnded(1, RunEndWhy.FINISHED))
      .when(resume)
      .thenNothing();
    given(taskDecider, ...command, taskEnded(TaskOutcome.COMPLETED, ""))
      .when(resume)
      .thenRejected("work_not_kept");
    given(taskDecider, ...pausing)
      .when(resume)
      .thenRejected("task_not_ended");
    given(taskDecider, ...open)
      .when(resume)
      .thenNothing();
    given(taskDecider).when(resume).thenRejected("task_not_found");
  });

  test("begins from its folder if it never started, since nothing can be missing", () => {
    const never = [
      taskCreated(taskConfig, "notebook"),
      taskRun(1),
      runEnded(1, RunEndWhy.WITHDRAWN),
      taskEnded(TaskOutcome.PAUSED, "paused"),
    ];
    given(taskDecider, ...never)
      .when(resume)
      .then(taskResumed);
    given(taskDecider, ...never, taskResumed)
      .when(request(null))
      .then(taskRun(2));
  });

  test("waits again for the saves that its last run has left", () => {
    const left = { left: { sealed, atMs: 5_000 } };
    const ended = decide(pausing, acknowledged(StopWhy.PAUSE, left));
    const untilMs = 5_000 + limits.checkpointsWaitMs;
    expect(ended).toMatchObject([{ data: { awaitedUntilMs: untilMs } }, { type: "TaskEnded" }]);
    given(taskDecider, ...pausing, ...ended)
      .when(resume)
      .then(taskResumed, {
        type: "RunCheckpointsNamed",
        data: { run: 1, checkpoints: [], awaitedUntilMs: untilMs },
      });
  });

  test("ends the task if none of its saves can be used", () => {
    given(taskDecider, ...paused, taskResumed)
      .when(request(null))
      .then(taskEnded(TaskOutcome.FAILED, "none of its saves is complete and intact"));
  });

  test("counts no earlier restarts, and a later kill or pause ends it again", () => {
    const again = [...paused, taskResumed, taskRun(2, { fromCheckpoint: "c1", fromStep: 7 })];
    expect(decide(again, { kind: "pause", reason: "" })).toEqual([pauseRequested(), pauseStop(2)]);
    expect(decide(again, { kind: "kill", reason: "" })).toHaveLength(2);
  });
});

describe("the end of a run that keeps its work", () => {
  test("for idleness pauses the task, with the sentence; a TensorBoard is then completed", () => {
    const idle = ending(RunEndWhy.IDLE, { message: "nobody used it for 30 minutes" });
    expect(decide(open, idle).at(-1)).toEqual(
      taskEnded(TaskOutcome.PAUSED, "nobody used it for 30 minutes"),
    );
    const board = [taskCreated(taskConfig, "tensorboard"), taskRun(1), started];
    expect(decide(board, idle).at(-1)).toEqual(
      taskEnded(TaskOutcome.COMPLETED, "nobody used it for 30 minutes"),
    );
  });

  test("by a drain requests the next run, unless the folder could not be saved", () => {
    const unsaved = "the folder is larger than 10 GiB: it is in /data/t12 on host a1 for a week";
    for (const why of [StopWhy.DRAIN, StopWhy.PREEMPTED]) {
      expect(decide(open, acknowledged(why)).map(({ type }) => type)).toEqual(["RunEnded"]);
      const [ended, last] = decide(open, acknowledged(why, { unsaved }));
      expect([ended?.data, last?.data]).toMatchObject([
        { unsaved },
        { outcome: TaskOutcome.FAILED, unsaved },
      ]);
    }
  });

  test("by a failure delays the next run, as that of any task", () => {
    const config = { ...taskConfig, max_restarts: 1 };
    const repeated = [taskCreated(config, "notebook"), taskRun(1), started];
    const failing = ending(RunEndWhy.FAILED, { fault: Fault.SCRIPT, message: "exit code 1" });
    const ended = decide(repeated, failing);
    expect(ended).toMatchObject([{ data: { countsAsRestart: true } }]);
    expect(decide([...repeated, ...ended], request(null))).toMatchObject([
      { type: "RunRequested", data: { run: 2, delayMs: 1_000 } },
    ]);
  });
});

describe("a save", () => {
  const note = (run: number, step: number) =>
    ({ kind: "note_save", saved: taskSaved("c9", run, step).data }) as const;

  test("of the newest run is noted once, also after the task's end", () => {
    given(taskDecider, ...open)
      .when(note(1, 9))
      .then(taskSaved("c9", 1, 9));
    given(taskDecider, ...paused)
      .when(note(1, 9))
      .then(taskSaved("c9", 1, 9));
    given(taskDecider, ...open, taskSaved("c9", 1, 9))
      .when(note(1, 9))
      .thenNothing();
  });

  test("of an earlier run, of another kind of task, or of a deleted one changes nothing", () => {
    const from = { fromCheckpoint: "c1", fromStep: 7 };
    given(taskDecider, ...paused, taskResumed, taskRun(2, from))
      .when(note(1, 9))
      .thenNothing();
    given(taskDecider, ...command)
      .when(note(1, 9))
      .thenNothing();
    given(taskDecider, ...paused, { type: "TaskDeleted", data: {} })
      .when(note(1, 9))
      .thenNothing();
  });

  test("is the latest by its step, not by the order of its events", () => {
    const events = [...open, taskSaved("late", 1, 9), taskSaved("early", 1, 8)];
    const { saves } = events.reduce(evolveTask, initialTask);
    expect(saves.map(({ checkpoint }) => checkpoint)).toEqual(["early", "late"]);
  });

  test("that an agent names after its return is waited for, and longer while it is uploaded", () => {
    const lost = [...open, save, runEnded(1, RunEndWhy.LOST), taskEnded(TaskOutcome.FAILED, "")];
    const named = decide(lost, { kind: "name_saves", run: 1, left: { sealed, atMs: 9_000 } });
    expect(named).toMatchObject([
      { data: { checkpoints: sealed, awaitedUntilMs: 9_000 + limits.checkpointsWaitMs } },
    ]);
    const moved = { kind: "await_upload", run: 1, checkpoint: "c2", atMs: 10_000 } as const;
    expect(decide([...lost, ...named], moved)).toMatchObject([
      { data: { checkpoints: [], awaitedUntilMs: 10_000 + limits.checkpointsWaitMs } },
    ]);
    expect(decide(lost, moved)).toEqual([]);
  });
});
