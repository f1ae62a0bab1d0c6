/** The users of runs on this host: one per experiment, or the agent's. */
import type { RunFolder } from "../state/run-folder.ts";
import { inheritedByUser } from "./inherited.ts";
import { type Owner, ownerOf, type RunUser, type UserRange } from "../state/run-user.ts";

export class RunUsers {
  readonly #range: UserRange | null;
  readonly #groups: readonly number[];
  readonly #inherits: readonly string[];

  /**
   * Without a range every run has the agent's own user. `inherits` names variables of the agent that runs inherit too.
   */
  constructor(
    range: UserRange | null,
    groups: readonly number[] = [],
    inherits: readonly string[] = [],
  ) {
    this.#range = range;
    this.#groups = groups;
    this.#inherits = inherits;
  }

  /** Whether the user is that of runs. */
  has(uid: number): boolean {
    const range = this.#range;
    return range === null ? uid === process.getuid?.() : uid >= range.first && uid <= range.last;
  }

  /** Null for the agent's own user; throws a Fault for an experiment beyond the range. */
  ownerFor(experiment: string): Owner | null {
    return this.#range === null ? null : ownerOf(this.#range, experiment);
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
