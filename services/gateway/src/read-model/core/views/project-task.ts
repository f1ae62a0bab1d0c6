/**
 * Tasks. The state follows from the present run, until the task has ended; the reason says why a task waits, stops or
 * has ended. An ended task may be resumed, and then continues with a new run.
 */
import type { Plain } from "@trainyard/contracts";
import type { Run } from "@trainyard/contracts/api";
import { StopWhy, TaskOutcome } from "@trainyard/contracts/events";
import {
  hasPage,
  keepsWork,
  proxyPortsOf,
  taskConfig,
} from "@trainyard/experiment-config/recorded";
import { parseTaskRunId, taskRunId } from "@trainyard/kernel";
import type { DocumentSet, TaskDocument } from "./documents.ts";
import type { Projections } from "./projections.ts";
import {
  endedRun,
  grantedRun,
  requestedRun,
  startedRun,
  stateWithoutStop,
  waitingRun,
  withChangedRun,
  withNewRun,
} from "./runs.ts";

const outcomeStates: Readonly<Record<number, string>> = {
  [TaskOutcome.COMPLETED]: "COMPLETED",
  [TaskOutcome.KILLED]: "KILLED",
  [TaskOutcome.PAUSED]: "PAUSED",
};

/** The states of a task in the API. */
export const taskStates: readonly string[] = [
  "QUEUED",
  "STARTING",
  "RUNNING",
  "STOPPING",
  "PAUSED",
  "COMPLETED",
  "KILLED",
  "ERROR",
];

const stopReasons: Readonly<Record<number, string>> = {
  [StopWhy.KILL]: "it is being killed",
  [StopWhy.PAUSE]: "it is being paused",
  [StopWhy.PREEMPTED]: "it makes room for others",
  [StopWhy.DRAIN]: "its agent is drained",
  [StopWhy.TIME_LIMIT]: "it has reached its time limit",
};

/** Returns the number in a task's id, by which lists are ordered. */
export const taskNumber = (task: string): number => Number(task.slice(1));

export const taskProjections: Projections = {
  TaskCreated({ id, data, timeMs }, documents) {
    const { kind, config = {}, owner, workspace, contextDigest } = data;
    const { resources, keep_work } = taskConfig(config);
    const doc: TaskDocument = {
      id,
      kind,
      name: data.name,
      state: "QUEUED",
      reason: "",
      owner,
      workspace,
      pool: resources.resource_pool,
      slots: resources.slots,
      priority: resources.priority ?? 0,
      runs: [],
      ports: [...proxyPortsOf(config)],
      restarts: 0,
      createdAtMs: timeMs,
      contextDigest,
      unsaved: "",
      hasPage: hasPage(kind),
      keepsWork: keepsWork(kind, { keep_work }),
      sources: data.sources,
      killed: false,
    };
    const place = { parent: "", ordinal: taskNumber(id) };
    documents.put({ kind: "task", id, ...place, doc });
    documents.put({ kind: "config", id, ...place, doc: { config } });
  },
  RunRequested({ id, data, timeMs }, documents) {
    changeTask(documents, id, ({ runs }) => {
      const run = requestedRun(taskRunId(id, data.run), data, timeMs, runs.at(-1));
      const { waitsFor } = run;
      const latest = [...withNewRun(documents, id, runs, run)];
      return { runs: latest, reason: waitsFor === "" ? "" : `it waits for ${waitsFor}` };
    });
  },
  RunStarted({ id, data, timeMs }, documents) {
    changeTask(documents, id, ({ startedAtMs = timeMs, ...doc }) => ({
      startedAtMs,
      ...withRun(doc, data.run, () => startedRun(timeMs)),
      reason: doc.killed ? doc.reason : "",
    }));
  },
  RunStopRequested({ id, data }, documents) {
    stop(documents, id, data.run, data.why);
  },
  RunStopWithdrawn({ id, data }, documents) {
    withdrawStop(documents, id, data.run);
  },
  RunEnded({ id, data, timeMs }, documents) {
    changeTask(documents, id, (doc) => ({
      restarts: doc.restarts + (data.countsAsRestart ? 1 : 0),
      unsaved: data.unsaved ?? "",
      ...withRun(doc, data.run, () => endedRun(data, timeMs)),
      ...(data.awaitedUntilMs === undefined
        ? {}
        : { reason: "it waits until its files are saved" }),
    }));
  },
  TaskKillRequested({ id, data }, documents) {
    changeTask(documents, id, () => ({ killed: true, reason: data.reason }));
  },
  TaskSaved({ id, data, timeMs: savedAtMs }, documents) {
    const { checkpoint, run, files, bytes } = data;
    documents.update("task", id, () => ({
      lastSave: { checkpoint, run, files, bytes, savedAtMs },
    }));
  },
  TaskEnded({ id, data, timeMs }, documents) {
    documents.update("task", id, () => ({
      state: outcomeStates[data.outcome] ?? "ERROR",
      reason: data.reason,
      restarts: data.restarts,
      endedAtMs: timeMs,
      unsaved: data.unsaved ?? "",
      ...(data.exitCode === undefined ? {} : { exitCode: data.exitCode }),
    }));
  },
  TaskResumed({ id }, documents) {
    documents.replace("task", id, ({ endedAtMs: _ended, exitCode: _code, ...doc }) => ({
      ...doc,
      // The folder of an earlier run that is not saved stays named until the next run has ended.
      ...{ state: "QUEUED", reason: "", restarts: 0, killed: false },
    }));
  },
  TaskDeleted({ id }, documents) {
    const [oldest] = documents.get("task", id)?.runs ?? [];
    for (let number = (oldest?.number ?? 1) - 1; number > 0; number -= 1) {
      documents.remove({ kind: "run", id: taskRunId(id, number) });
    }
    documents.remove({ kind: "task", id });
    documents.remove({ kind: "config", id });
  },
  AllocationQueued({ id, data }, documents) {
    const run = parseTaskRunId(id);
    const { resources } = data;
    if (run === null || resources === undefined) return;
    changeTask(documents, run.task, () => ({ pool: resources.pool, priority: resources.priority }));
  },
  WaitExplained({ id, data }, documents) {
    const run = parseTaskRunId(id);
    if (run === null) return;
    changeTask(documents, run.task, (doc) => ({
      ...withRun(doc, run.run, () => waitingRun(data)),
      reason: doc.killed ? doc.reason : data.detail,
    }));
  },
  AllocationGranted({ id, data }, documents) {
    const run = parseTaskRunId(id);
    if (run === null) return;
    changeTask(documents, run.task, (doc) => ({
      ...withRun(doc, run.run, () => grantedRun(data)),
      reason: doc.killed ? doc.reason : "",
    }));
  },
  AllocationStopRequested({ id, data }, documents) {
    const run = parseTaskRunId(id);
    if (run !== null) stop(documents, run.task, run.run, data.why);
  },
  AllocationStopWithdrawn({ id, data }, documents) {
    const run = parseTaskRunId(id);
    if (run === null) return;
    if (data.remains === undefined) withdrawStop(documents, run.task, run.run);
    else stop(documents, run.task, run.run, data.remains);
  },
};

/** Changes a task that has not ended. Its state follows from the change. */
function changeTask(
  documents: DocumentSet,
  id: string,
  change: (doc: TaskDocument) => Partial<TaskDocument>,
): void {
  documents.update("task", id, (doc) => {
    if (doc.endedAtMs !== undefined) return {};
    const changed = { ...doc, ...change(doc) };
    return { ...changed, state: stateOf(changed) };
  });
}

function stateOf({ killed, runs }: TaskDocument): string {
  const { state = "QUEUED" } = runs.at(-1) ?? {};
  if (killed) return "STOPPING";
  // The next run is requested with the end of this one, or the task ends with it.
  return state === "ENDED" ? "QUEUED" : state;
}

const withRun = (
  { runs }: Pick<TaskDocument, "runs">,
  number: number,
  change: (run: Plain<Run>) => Partial<Plain<Run>>,
): Pick<TaskDocument, "runs"> => ({ runs: [...withChangedRun(runs, number, change)] });

function stop(documents: DocumentSet, task: string, run: number, why: StopWhy): void {
  changeTask(documents, task, (doc) => ({
    ...withRun(doc, run, ({ state }) => (state === "ENDED" ? {} : { state: "STOPPING" })),
    reason: doc.killed ? doc.reason : (stopReasons[why] ?? doc.reason),
  }));
}

function withdrawStop(documents: DocumentSet, task: string, run: number): void {
  changeTask(documents, task, (doc) => ({
    ...withRun(doc, run, (one) =>
      one.state === "STOPPING" ? { state: stateWithoutStop(one) } : {},
    ),
    reason: doc.killed ? doc.reason : "",
  }));
}

/** Says for what a task waits whose agent is away; empty for nothing. */
export function taskWaits(documents: DocumentSet, allocation: string, waitsFor: string): void {
  const run = parseTaskRunId(allocation);
  if (run === null) return;
  changeTask(documents, run.task, (doc) => ({
    ...withRun(doc, run.run, ({ state }) => (state === "ENDED" ? {} : { waitsFor })),
    reason: doc.killed ? doc.reason : waitsFor === "" ? "" : `it waits for ${waitsFor}`,
  }));
}
