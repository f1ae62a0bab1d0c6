import type { AnyEvent, EventData } from "@trainyard/contracts";
import {
  Fault,
  RunEndWhy,
  StopMode,
  StopWhy,
  TaskOutcome,
  WaitCode,
} from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import { agentStart, requested, taskCreated } from "../../../testing/example-events.ts";
import { DocumentSet } from "./documents.ts";
import { project } from "./project.ts";
import { touchedBy } from "./touched.ts";

type Step = readonly [stream: string, event: AnyEvent];

const own = "task-t7";
const first = "allocation-t7#1";
const begun: readonly Step[] = [
  [own, taskCreated({ config: { entrypoint: "a", resources: { slots: 2, resource_pool: "p" } } })],
  [own, requested(1, 0)],
];

function fold(...steps: readonly Step[]): DocumentSet {
  const documents = new DocumentSet();
  for (const [at, [stream, event]] of [...begun, ...steps].entries()) {
    project({ stream, timeMs: at, position: at + 1 }, event, documents);
  }
  return documents;
}

const after = (...steps: readonly Step[]) => fold(...steps).get("task", "t7");

const queued: Step = [
  first,
  {
    type: "AllocationQueued",
    data: {
      task: "t7",
      run: 1,
      job: "t7",
      resources: { pool: "gpus", slots: 2, priority: 42, weight: 1, singleAgent: true },
      workspace: "research",
      owner: "ada",
      preemptible: false,
      delayMs: 0,
    },
  },
];
const waits: Step = [
  first,
  {
    type: "WaitExplained",
    data: { code: WaitCode.NOT_ENOUGH_FREE_SLOTS, detail: "the run needs 2 slots" },
  },
];
const granted: Step = [
  first,
  {
    type: "AllocationGranted",
    data: {
      placements: [{ agent: "rack", nodeRank: 0, slots: ["0", "1"], address: "" }],
      masterAddress: "",
      masterPort: 1,
      tokenKey: "1",
      folded: 0,
    },
  },
];
const started: Step = [own, { type: "RunStarted", data: { run: 1, allocation: "t7#1" } }];
const ended = (over: Partial<EventData<"RunEnded">> = {}): Step => [
  own,
  {
    type: "RunEnded",
    data: {
      run: 1,
      why: RunEndWhy.FINISHED,
      exits: [],
      message: "",
      countsAsRestart: false,
      ...over,
    },
  },
];
const stop = (why: StopWhy): Step => [
  first,
  { type: "AllocationStopRequested", data: { mode: StopMode.GRACEFUL, why, graceMs: 1 } },
];

test("a task has the state of its run, and the reason for which it waits", () => {
  expect(after()).toMatchObject({ state: "QUEUED", reason: "", pool: "p", slots: 2 });
  expect(after(queued, waits)).toMatchObject({
    state: "QUEUED",
    reason: "the run needs 2 slots",
    pool: "gpus",
    priority: 42,
  });
  expect(after(queued, waits, granted)).toMatchObject({ state: "STARTING", reason: "" });
  const running = after(queued, waits, granted, started);
  expect(running).toMatchObject({ state: "RUNNING", reason: "", startedAtMs: 5 });
  expect(running?.runs).toMatchObject([{ id: "t7#1", state: "RUNNING", waitsFor: "" }]);
});

test.each([
  [StopWhy.PREEMPTED, "it makes room for others"],
  [StopWhy.DRAIN, "its agent is drained"],
  [StopWhy.TIME_LIMIT, "it has reached its time limit"],
])("a stop of the scheduler (%i) is shown with its reason until it is withdrawn", (why, reason) => {
  expect(after(granted, started, stop(why))).toMatchObject({ state: "STOPPING", reason });
  const withdrawn: Step = [first, { type: "AllocationStopWithdrawn", data: {} }];
  const running = after(granted, started, stop(why), withdrawn);
  expect(running).toMatchObject({ state: "RUNNING", reason: "" });
});

test("a kill is shown until the task has ended, whatever its run does", () => {
  const killed: Step = [own, { type: "TaskKillRequested", data: { reason: "killed by ada" } }];
  const over: Step = [
    own,
    { type: "TaskEnded", data: { outcome: TaskOutcome.KILLED, reason: "killed", restarts: 0 } },
  ];
  const stopping = { state: "STOPPING", reason: "killed by ada" };
  expect(after(killed)).toMatchObject(stopping);
  expect(after(killed, waits, granted, started)).toMatchObject(stopping);
  expect(after(killed, ended({ why: RunEndWhy.KILLED }))).toMatchObject(stopping);
  expect(after(killed, ended(), over)).toMatchObject({ state: "KILLED", reason: "killed" });
});

test.each([
  [TaskOutcome.COMPLETED, "COMPLETED", 0],
  [TaskOutcome.FAILED, "ERROR", 3],
  [TaskOutcome.PAUSED, "PAUSED", 0],
])(
  "an ended task (%i) has its outcome and exit code, and later events do not change it",
  (outcome, state, exitCode) => {
    const over: Step = [
      own,
      { type: "TaskEnded", data: { outcome, reason: "because", restarts: 1, exitCode } },
    ];
    const done = { state, reason: "because", exitCode, restarts: 1, endedAtMs: 5 };
    expect(after(granted, started, ended(), over)).toMatchObject(done);
    expect(after(granted, started, ended(), over, waits)).toMatchObject(done);
  },
);

test("a task shows its latest save, that it is being paused, and then that it continues", () => {
  const saved: Step = [
    own,
    { type: "TaskSaved", data: { checkpoint: "c1", run: 1, files: 3, bytes: 9, step: 7 } },
  ];
  const lastSave = { checkpoint: "c1", run: 1, files: 3, bytes: 9, savedAtMs: 4 };
  const pausing: readonly Step[] = [
    [own, { type: "TaskPauseRequested", data: { reason: "lunch" } }],
    [
      own,
      {
        type: "RunStopRequested",
        data: { run: 1, mode: StopMode.GRACEFUL, why: StopWhy.PAUSE, graceMs: 1 },
      },
    ],
  ];
  const steps = [granted, started, saved, ...pausing];
  const stopping = { state: "STOPPING", reason: "it is being paused", lastSave };
  expect(after(...steps)).toMatchObject(stopping);
  const unsaved = "the folder is larger than 10 GiB: it is in /data/t7 on rack for a week";
  const over: Step = [
    own,
    {
      type: "TaskEnded",
      data: { outcome: TaskOutcome.PAUSED, reason: "lunch", restarts: 1, exitCode: 0, unsaved },
    },
  ];
  const paused = [...steps, ended({ unsaved }), over];
  expect(after(...paused)).toMatchObject({ state: "PAUSED", reason: "lunch", unsaved });
  const resumed: Step = [own, { type: "TaskResumed", data: {} }];
  const again: Step = [own, requested(2, 7)];
  const task = after(...paused, resumed, again);
  expect(task).toMatchObject({ state: "QUEUED", reason: "", restarts: 0, lastSave, unsaved });
  expect([task?.endedAtMs, task?.exitCode]).toEqual([undefined, undefined]);
  expect(after(...paused, resumed, again, ended())).toMatchObject({ unsaved: "" });
});

test("a task that waits for the saves of its last run says so", () => {
  const task = after(granted, started, ended({ awaitedUntilMs: 9 }));
  expect(task).toMatchObject({ state: "QUEUED", reason: "it waits until its files are saved" });
});

test.each([
  ["command", false, false],
  ["shell", false, true],
  ["notebook", true, true],
  ["tensorboard", true, false],
])("a %s has a page of its own: %s, and its folder is saved: %s", (kind, hasPage, keepsWork) => {
  const documents = new DocumentSet();
  const event = taskCreated({ kind, config: { entrypoint: "a" } });
  project({ stream: own, timeMs: 0, position: 1 }, event, documents);
  expect(documents.get("task", "t7")).toMatchObject({ hasPage, keepsWork });
});

test("a failed run that is repeated leaves the task queued, with the reason of the delay", () => {
  const again: Step = [
    own,
    { type: "RunRequested", data: { ...requested(2, 0).data, delayMs: 2_000 } },
  ];
  const failed = ended({ why: RunEndWhy.FAILED, countsAsRestart: true, fault: Fault.SCRIPT });
  const task = after(granted, started, failed, again);
  expect(task).toMatchObject({
    state: "QUEUED",
    restarts: 1,
    reason: expect.stringMatching(/^it waits for a delay/),
  });
  expect(task?.runs.map(({ state }) => state)).toEqual(["ENDED", "QUEUED"]);
});

test("a running task says that its agent is lost, until the agent is back", () => {
  const joined: Step = [
    "agent-rack",
    {
      type: "AgentJoined",
      data: {
        pool: "p",
        version: "1",
        labels: {},
        slots: ["0", "1"].map((id) => ({ id, device: "cpu", uuid: "", memoryBytes: 0 })),
        address: "",
        ...agentStart,
      },
    },
  ];
  const lost: Step = ["agent-rack", { type: "AgentLost", data: { reason: "" } } as AnyEvent];
  const task = after(joined, granted, started, lost);
  expect(task).toMatchObject({
    state: "RUNNING",
    reason: "it waits for its agent rack, which is lost",
  });
});

test("a task is a job while it has a run in the queue or placed", () => {
  const job = (...steps: readonly Step[]) => fold(...steps).get("job", "t7");
  expect(job(queued)).toMatchObject({ job: "t7", runsWaiting: 1, slotsWanted: 2, pool: "gpus" });
  expect(job(queued, granted)).toMatchObject({ runsPlaced: 1, slotsHeld: 2 });
  const over: Step = [
    first,
    { type: "AllocationEnded", data: { cause: 1, exits: [], message: "" } },
  ];
  const end: Step = [
    own,
    { type: "TaskEnded", data: { outcome: TaskOutcome.COMPLETED, reason: "", restarts: 0 } },
  ];
  expect(job(queued, granted, over, ended(), end)).toBeUndefined();
});

test("a deleted task has no document", () => {
  const documents = fold([own, { type: "TaskDeleted", data: {} }]);
  expect(documents.get("task", "t7")).toBeUndefined();
  expect(documents.get("config", "t7")).toBeUndefined();
});

test("a deleted task has no documents of earlier runs, whichever were fetched", () => {
  const later = Array.from({ length: 39 }, (_, index): Step => [own, requested(index + 2, 0)]);
  const documents = fold(...later, [own, { type: "TaskDeleted", data: {} }]);
  expect(documents.rows()).toEqual([]);
  expect(documents.dropped().filter(({ kind }) => kind === "run")).toHaveLength(24);
});

test("each event of a task and of its runs names the documents that it changes", () => {
  for (const [stream, event] of [...begun, queued, waits, granted, started, ended(), stop(1)]) {
    const kinds = touchedBy(stream, event).map(({ kind, id }) => `${kind} ${id}`);
    expect([event.type, kinds.includes("task t7")]).toEqual([event.type, true]);
  }
  const ofTrial = touchedBy("allocation-1.1#1", stop(StopWhy.DRAIN)[1]);
  expect(ofTrial).toEqual([]);
});
