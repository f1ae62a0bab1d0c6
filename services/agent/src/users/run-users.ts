/** The users of runs on this host: one per experiment or task, or the agent's. */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import type { RunFolder } from "../state/run-folder.ts";
import {
  type Owner,
  ownerOf,
  type RunUser,
  taskOwnerOf,
  type UserRange,
} from "../state/run-user.ts";
import { inheritedByUser } from "./inherited.ts";

export class RunUsers {
  readonly #range: UserRange | null;
  readonly #tasks: UserRange | null;
  readonly #groups: readonly number[];
  readonly #inherits: readonly string[];

  /**
   * Without a range every run has the agent's own user. `inherits` names variables of the agent that runs inherit too.
   * `tasks` is the range of tasks; with the first range and without this one no task can run.
   */
  constructor(
    range: UserRange | null,
    groups: readonly number[] = [],
    inherits: readonly string[] = [],
    tasks: UserRange | null = null,
  ) {
    this.#range = range;
    this.#tasks = tasks;
    this.#groups = groups;
    this.#inherits = inherits;
  }

  /** Whether the user is that of runs. */
  has(uid: number): boolean {
    if (this.#range === null) return uid === process.getuid?.();
    return [this.#range, this.#tasks].some(
      (range) => range !== null && uid >= range.first && uid <= range.last,
    );
  }

  /** Null for the agent's own user; throws a Fault for an experiment or a task beyond its range. */
  ownerFor({ experiment, task }: Pick<Plain<Launch>, "experiment" | "task">): Owner | null {
    if (this.#range === null) return null;
    return task === undefined
      ? ownerOf(this.#range, experiment)
      : taskOwnerOf(this.#tasks, task.id);
  }

  /** Returns the owner of the run's folder, whatever the present range: a run keeps its user. */
  startAs({ owner }: RunFolder): { readonly user?: RunUser } {
    return owner === null ? {} : { user: { ...owner, groups: this.#groups } };
  }

  /** Returns the variables that the run inherits, overridden by its user's variables. */
  variables(
    folder: RunFolder,
    inherited: Readonly<Record<string, string>>,
  ): Readonly<Record<string, string>> {
    if (folder.owner === null) return inherited;
    return { ...inheritedByUser(inherited, this.#inherits), ...folder.userVariables };
  }
}
