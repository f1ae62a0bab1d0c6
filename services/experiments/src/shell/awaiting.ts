/**
 * The trials and tasks whose next run waits for checkpoints of the last run, and until when. When a wait is over, the
 * trial or task is advanced, and its next run starts from a complete checkpoint.
 */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import { type EventLog, newEventId, type StoredEvent } from "@trainyard/event-log";
import { isTaskId } from "@trainyard/kernel";
import {
  type Check,
  type DueDeps,
  DueFold,
  type DueFoldSpec,
  type EffectSpan,
  foldOf,
  foldOfDues,
  logFoldCheck,
  type Logger,
  serviceMeta,
  streamEvents,
} from "@trainyard/runtime";
import type { TryDelays } from "../core/trial/tries.ts";
import { advance, type Waits } from "./advance.ts";
import { advanceTask } from "./advance-task.ts";
import { tasks, trials } from "../streams.ts";

export const awaitingFold: DueFoldSpec = {
  stream: "trial-awaiting",
  schema: "awaiting-trials/2",
  what: "the trials that wait",
  category: "trial",
  dueOf,
};

/** An ended task may be named here, too, until its time: its saves are named after its end. */
export const awaitingTasksFold: DueFoldSpec = {
  stream: "task-awaiting",
  schema: "awaiting-tasks/1",
  what: "the tasks that wait",
  category: "task",
  dueOf,
};

function dueOf(stored: StoredEvent, knownMs: number): number | null | undefined {
  switch (shortNameOf(stored.type)) {
    case "RunEnded":
    case "RunCheckpointsNamed":
    case "TrialContinued":
      return waitOf(stored, knownMs);
    case "RunRequested":
    case "TrialEnded":
    case "TaskEnded":
      return null;
    default:
      return undefined;
  }
}

function waitOf(stored: StoredEvent, knownMs: number): number | undefined {
  const { data } = decodeEvent(stored);
  const awaitedUntilMs = "awaitedUntilMs" in data ? (data.awaitedUntilMs ?? 0) : 0;
  return awaitedUntilMs === 0 ? undefined : Math.max(awaitedUntilMs, knownMs);
}

type AwaitingDeps = DueDeps & { readonly delays: TryDelays };

export class Awaiting implements Waits {
  readonly delays: TryDelays;
  readonly dues: DueFold;
  readonly taskDues: DueFold;
  readonly #deps: DueDeps;

  private constructor(deps: AwaitingDeps, dues: DueFold, taskDues: DueFold) {
    this.delays = deps.delays;
    this.dues = dues;
    this.taskDues = taskDues;
    this.#deps = deps;
  }

  static async open(deps: AwaitingDeps): Promise<Awaiting> {
    const spec = { name: "awaiting", service: "experiments", lane: 1 };
    const ofTasks = { ...spec, name: "awaiting-tasks" };
    const awaiting: Awaiting = new Awaiting(
      deps,
      await DueFold.open(
        awaitingFold,
        { ...spec, act: (id, _, { span }) => awaiting.#advance(id, span) },
        deps,
      ),
      await DueFold.open(
        awaitingTasksFold,
        { ...ofTasks, act: (id, _, { span }) => awaiting.#advanceTask(id, span) },
        deps,
      ),
    );
    return awaiting;
  }

  trials(): Iterable<string> {
    return this.dues.ids();
  }

  tasks(): Iterable<string> {
    return this.taskDues.ids();
  }

  isOver(owner: string, untilMs: number): boolean {
    const { loop } = isTaskId(owner) ? this.taskDues : this.dues;
    return loop.isOver(owner, untilMs);
  }

  /** If the trial still has no run afterwards, for example during a pause, it is not retried by time. */
  async #advance(trial: string, span: EffectSpan): Promise<null> {
    const { executor } = this.#deps;
    const meta = serviceMeta("experiments", { traceparent: span.traceparent });
    const identity = { commitId: newEventId(), meta };
    await executor.execute(identity, (work) => advance(work, trial, this));
    const { state } = await executor.cache.load(foldOf(trials), trial);
    // Older events may name a wait of an ended trial.
    if (state.status === "ended") this.dues.drop(trial);
    return null;
  }

  async #advanceTask(task: string, span: EffectSpan): Promise<null> {
    const { executor } = this.#deps;
    const meta = serviceMeta("experiments", { traceparent: span.traceparent });
    const identity = { commitId: newEventId(), meta };
    await executor.execute(identity, (work) => advanceTask(work, task, this));
    const { state } = await executor.cache.load(foldOf(tasks), task);
    if (state.status !== "open") this.taskDues.drop(task);
    return null;
  }
}

/**
 * Compares the saved waits with a rebuild, in which an ended trial or task may wait: the leader drops it at its time.
 */
export function awaitingCheck(log: EventLog, logger: Logger, spec = awaitingFold): Check {
  const { category } = spec;
  const mayLack = async (id: string): Promise<boolean> => {
    for await (const { type } of streamEvents(log, `${category}-${id}`)) {
      if (["TrialEnded", "TaskEnded"].includes(shortNameOf(type))) return true;
    }
    return false;
  };
  const name = `experiments.awaiting-${category}s`;
  return logFoldCheck({ name, fold: foldOfDues(spec), log, logger, mayLack });
}
