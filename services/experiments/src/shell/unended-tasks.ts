/**
 * The tasks that have not ended, with their workspaces, for the limit of each workspace. They are folded from the log.
 * Tasks whose event the fold has not seen yet, and creations that are being decided, count too.
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
import { limits } from "../limits.ts";

const unendedFold: LogFoldSpec<string> = {
  stream: "task-unended",
  schema: "unended-tasks/1",
  what: "the tasks that have not ended",
  fold: (workspaces, stored) => {
    if (categoryOf(stored.stream) !== "task") return;
    const type = shortNameOf(stored.type);
    if (type === "TaskEnded") workspaces.delete(idOf(stored.stream));
    if (type !== "TaskCreated") return;
    const { data } = decodeEvent(stored);
    workspaces.set(idOf(stored.stream), "workspace" in data ? (data.workspace ?? "") : "");
  },
};

type UnendedDeps = {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly tasksPerWorkspaceMax: number;
};

export class UnendedTasks {
  readonly #max: number;
  readonly #fold: LogFold<string>;
  /** The position up to which the fold has seen the log; 0 for the head at its start. */
  #seen = 0;
  /** The workspaces of creations that are being decided, by their commit. */
  readonly #deciding = new Map<string, string>();
  /** The workspaces of created tasks whose event the fold has not seen yet. */
  readonly #unseen = new Map<string, string>();
  /** The latest accepted commits: a client repeats one if its answer was lost, and is not refused then. */
  readonly #accepted = new Set<string>();

  private constructor(fold: LogFold<string>, max: number) {
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

  /** Decides a creation, unless the workspace is full. */
  async creating(
    commitId: string,
    workspace: string,
    decide: () => Promise<Committed | Rejection>,
  ): Promise<Committed | Rejection> {
    const full = this.#accepted.has(commitId) ? null : this.#refusal(commitId, workspace);
    if (full !== null) return full;
    this.#deciding.set(commitId, workspace);
    try {
      const result = await decide();
      if (!isRejection(result)) this.#created(commitId, workspace, result);
      return result;
    } finally {
      this.#deciding.delete(commitId);
    }
  }

  #created(commitId: string, workspace: string, { position, streams }: Committed): void {
    const stream = streams[0]?.stream;
    if (stream !== undefined && position > this.#seen) this.#unseen.set(idOf(stream), workspace);
    this.#accepted.add(commitId);
    const [oldest] = this.#accepted;
    if (this.#accepted.size > limits.acceptedCreationsMax && oldest !== undefined) {
      this.#accepted.delete(oldest);
    }
  }

  #refusal(commitId: string, workspace: string): Rejection | null {
    const deciding = [...this.#deciding].filter(([id]) => id !== commitId);
    const unended = new Map([...this.#fold.entries, ...this.#unseen, ...deciding]);
    const count = [...unended.values()].filter((one) => one === workspace).length;
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
