/**
 * The runs behind the pages of sessions. A run counts as known for a second after a look at the database, as the
 * session does (task-callers.ts), so that a page with hundreds of files asks once. A run that ends meanwhile answers
 * nothing: its tunnel closes.
 */
import type { Clock } from "@trainyard/kernel";
import { LRUCache } from "lru-cache";
import { taskPageLimits } from "./limits.ts";
import type { TaskCaller } from "./task-callers.ts";
import type { TaskAddress } from "./task-host.ts";
import type { ServingRun, TaskPagesDeps } from "./task-pages.ts";

export class KnownRuns {
  readonly #serving: TaskPagesDeps["serving"];
  readonly #clock: Clock;
  /** By the digest of a session, which belongs to one person and one address. */
  readonly #known = new LRUCache<string, { readonly run: ServingRun; readonly atMs: number }>({
    max: taskPageLimits.rememberedMax,
  });

  constructor(serving: TaskPagesDeps["serving"], clock: Clock) {
    this.#serving = serving;
    this.#clock = clock;
  }

  async of(address: TaskAddress, { caller, digest }: TaskCaller): Promise<ServingRun> {
    const atMs = this.#clock.monotonicMs();
    const known = this.#known.get(digest);
    if (known !== undefined && atMs - known.atMs < taskPageLimits.freshMs) return known.run;
    const run = await this.#serving(address, caller);
    this.#known.set(digest, { run, atMs });
    return run;
  }

  /** Has the next request look again: the run did not answer, and may have been replaced by another one. */
  forget(digest: string): void {
    this.#known.delete(digest);
  }
}
