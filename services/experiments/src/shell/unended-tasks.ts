/**
 * The tasks that have not ended, with their workspaces, for the limit of each workspace. They are folded from the log.
 * Tasks whose event the fold has not seen yet, and creations that are being decided, count too. An ended task, such as
 * a paused one, counts again when it is resumed and gets a run.
 */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf, isRejection, type Rejection, reject } from "@trainyard/kernel";
import {
  type Check,
  type Committed,
  LogFold,
  logFoldCheck,
  type LogFoldSpec,
  type Logger,
} from "@trainyard/runtime";

/** `commit` is the id of the commit that created or resumed the task: a client repeats it if the answer was lost. */
type Unended = { readonly workspace: string; readonly commit: string };

const unendedFold: LogFoldSpec<Unended> = {
  stream: "task-unended",
  schema: "unended-tasks/1",
  what: "the tasks that have not ended",
  fold: (tasks, stored) => {
    if (categoryOf(stored.stream) !== "task") return;
    const type = shortNameOf(stored.type);
    if (type === "TaskEnded") tasks.delete(idOf(stored.stream));
    const event = type === "RunRequested" ? decodeEvent(stored) : null;
    if (event?.type !== "RunRequested" || tasks.has(idOf(stored.stream))) return;
    const { workspace } = event.data;
    tasks.set(idOf(stored.stream), { workspace, commit: stored.commitId });
  },
};

type Decision = Promise<Committed | Rejection>;

type Deciding = Unended & { readonly decision: Decision };

type UnendedDeps = {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly tasksPerWorkspaceMax: number;
};

export class UnendedTasks {
  readonly #max: number;
  readonly #fold: LogFold<Unended>;
  /** The position up to which the fold has seen the log; 0 for the head at its start. */
  #seen = 0;
  /** Creations that are being decided, by their commit. */
  readonly #deciding = new Map<string, Deciding>();
  /** Created tasks whose event the fold has not seen yet. */
  readonly #unseen = new Map<string, Unended>();

  private constructor(fold: LogFold<Unended>, max: number) {
    this.#fold = fold;
    this.#max = max;
  }

  static async open({ tasksPerWorkspaceMax, ...deps }: UnendedDeps): Promise<UnendedTasks> {
    return new UnendedTasks(await LogFold.open(deps, unendedFold), tasksPerWorkspaceMax);
  }

  /** Folds an event; a repeated one changes nothing. */
  observe(stored: StoredEvent): void {
    this.#fold.observe(stored);
    this.#seen = stored.position;
    if (categoryOf(stored.stream) === "task") this.#unseen.delete(idOf(stored.stream));
  }

  /**
   * Decides a creation or a continuation, unless the workspace is full. A copy that arrives meanwhile gets the same
   * decision.
   */
  async creating(commit: string, workspace: string, decide: () => Decision): Decision {
    const copied = this.#deciding.get(commit);
    if (copied !== undefined) return copied.decision;
    const full = this.#refusal({ commit, workspace });
    if (full !== null) return full;
    const decision = this.#decided({ commit, workspace }, decide);
    this.#deciding.set(commit, { commit, workspace, decision });
    return decision;
  }

  async #decided({ commit, workspace }: Unended, decide: () => Decision): Decision {
    try {
      const result = await decide();
      const stream = isRejection(result) ? undefined : result.streams[0]?.stream;
      if (!isRejection(result) && stream !== undefined && result.position > this.#seen) {
        this.#unseen.set(idOf(stream), { commit, workspace });
      }
      return result;
    } finally {
      this.#deciding.delete(commit);
    }
  }

  /** Returns null for a repeated commit, whose task the log returns. */
  #refusal({ commit, workspace }: Unended): Rejection | null {
    const unended = [...new Map([...this.#fold.entries, ...this.#unseen]).values()];
    const there = [...unended, ...this.#deciding.values()];
    if (there.some((one) => one.commit === commit)) return null;
    const count = there.filter((one) => one.workspace === workspace).length;
    if (count < this.#max) return null;
    const shown = JSON.stringify(workspace.slice(0, 80));
    const detail = `the workspace ${shown} has ${count} tasks that have not ended, and may have ${this.#max}: kill some first`;
    return reject("too_many_tasks", detail);
  }
}

/** Compares the saved tasks with a rebuild. */
export function unendedCheck(log: EventLog, logger: Logger): Check {
  return logFoldCheck({ name: "experiments.unended-tasks", fold: unendedFold, log, logger });
}
