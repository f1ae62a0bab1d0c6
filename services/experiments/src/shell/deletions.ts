/**
 * Completes the deletions of experiments whose grace is over. The ends of the graces are folded from the log and saved
 * now and then, so a new leader reads only the rest. An undo and the completion are both decided on the experiment's
 * stream, so the first one wins.
 */
import { decodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId, type StoredEvent } from "@trainyard/event-log";
import { categoryOf, type Clock, idOf } from "@trainyard/kernel";
import {
  type DeletionGate,
  EffectLoop,
  type Executor,
  type Logger,
  runtimeLimits,
  serviceMeta,
} from "@trainyard/runtime";
import { limits } from "../limits.ts";
import { type LogFold, type LogFoldPlace, loadLogFold, saveLogFold } from "./log-folds.ts";
import { experiments } from "../streams.ts";

const place: LogFoldPlace = {
  stream: "experiment-deletions",
  schema: "experiment-deletions/1",
  what: "the deletions of experiments",
};

type Saved = LogFold & { readonly graceEndMs: Readonly<Record<string, number>> };

export type DeletionsDeps = {
  readonly log: EventLog;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hold: DeletionGate;
};

export class Deletions {
  readonly loop: EffectLoop;
  readonly #deps: DeletionsDeps;
  readonly #graceEndMs: Map<string, number>;
  #event: string;
  #position: number;
  #savedPosition: number;

  private constructor(deps: DeletionsDeps, { event, position, graceEndMs }: Saved) {
    this.#deps = deps;
    this.#event = event;
    this.#position = position;
    this.#savedPosition = position;
    this.#graceEndMs = new Map(Object.entries(graceEndMs));
    this.loop = new EffectLoop("deletions", deps, () => this.#step());
  }

  /** Opens the fold at the head of the log. */
  static async open(deps: DeletionsDeps): Promise<Deletions> {
    const saved = await loadLogFold<Saved>(deps, place);
    const nothing = { event: "", position: 0, graceEndMs: {} };
    const deletions = new Deletions(deps, typeof saved === "string" ? nothing : saved);
    await deletions.#readTo(await deps.log.head());
    return deletions;
  }

  async #readTo(position: number): Promise<void> {
    while (this.#position < position) {
      const limit = Math.min(runtimeLimits.pageEvents, position - this.#position);
      const page = await this.#deps.log.readAll(this.#position, limit);
      for (const stored of page) this.#pass(stored);
      if (page.length === 0) break;
    }
    this.#saveWhenDue();
  }

  /** Folds an event; a repeated one changes nothing. */
  observe(stored: StoredEvent): void {
    this.#pass(stored);
    this.#saveWhenDue();
  }

  #pass(stored: StoredEvent): void {
    if (stored.position <= this.#position) return;
    this.#position = stored.position;
    this.#event = stored.id;
    if (categoryOf(stored.stream) !== "experiment") return;
    const event = decodeEvent(stored);
    const id = idOf(stored.stream);
    if (event.type === "ExperimentDeletionRequested") {
      this.#graceEndMs.set(id, event.data.graceEndMs);
      this.loop.wake();
    }
    const isOver = event.type === "ExperimentDeletionUndone" || event.type === "ExperimentDeleted";
    if (isOver) this.#graceEndMs.delete(id);
  }

  /** Saves the fold now and then. A failed save only makes the next start slower. */
  #saveWhenDue(): void {
    if (this.#position - this.#savedPosition < limits.deletionsSavedEveryEvents) return;
    this.#savedPosition = this.#position;
    const graceEndMs = Object.fromEntries(this.#graceEndMs);
    const saved = { event: this.#event, position: this.#position, graceEndMs };
    saveLogFold(this.#deps.log, place, saved).catch((error: unknown) => {
      this.#deps.logger.warn({ err: error }, "deletions_not_saved");
    });
  }

  /** Completes the deletions that are due. Returns the milliseconds until the next grace ends; null for none. */
  async #step(): Promise<number | null> {
    const { clock, hold } = this.#deps;
    const isDue = [...this.#graceEndMs.values()].some((graceEndMs) => graceEndMs <= clock.nowMs());
    // The deletion may have been undone in a part that the log lost, and cannot be undone once it is complete.
    if (isDue && (await hold.reason()) !== null) return runtimeLimits.heldLookMs;
    for (const [id, graceEndMs] of [...this.#graceEndMs]) {
      if (graceEndMs <= clock.nowMs()) await this.#delete(id, graceEndMs);
    }
    const next = Math.min(...this.#graceEndMs.values());
    if (!Number.isFinite(next)) return null;
    // The sleep is limited, because this host's clock may be set meanwhile.
    return Math.min(Math.max(next - clock.nowMs(), 0), limits.deletionsLookMs);
  }

  async #delete(id: string, graceEndMs: number): Promise<void> {
    const { executor, clock } = this.#deps;
    const identity = { commitId: newEventId(), meta: serviceMeta("experiments") };
    await executor.execute(identity, async (work) => {
      await work.decide(experiments, id, { kind: "delete_for_good", atMs: clock.nowMs() });
    });
    // The deletion may have been undone and requested again meanwhile.
    if (this.#graceEndMs.get(id) === graceEndMs) this.#graceEndMs.delete(id);
  }
}
