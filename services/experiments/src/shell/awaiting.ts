/**
 * Trials whose next run waits for checkpoints that the run before has left, and until when. The times are folded from the
 * log as it passes by, and saved now and then, so that a new holder reads only the rest: nothing is on a timer that a
 * crash could take along. When a time has come the trial is advanced, and its next run starts from what is complete.
 */
import { decodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId, type StoredEvent } from "@trainyard/event-log";
import { categoryOf, type Clock, idOf } from "@trainyard/kernel";
import {
  EffectLoop,
  type Executor,
  type Logger,
  runtimeLimits,
  serviceMeta,
} from "@trainyard/runtime";
import { limits } from "../limits.ts";
import { advance } from "./advance.ts";

/** The saved fold is of no single stream; it lies beside those of the category that this service owns. */
export const awaitingStream = "trial-awaiting";
export const awaitingSchema = "awaiting-trials/1";
/** The column that holds the version is a 32-bit integer; the text holds the position exactly. */
const versionMax = 0x7fffffff;

export type Saved = {
  readonly position: number;
  readonly untilMs: Readonly<Record<string, number>>;
};

export const nothing: Saved = { position: 0, untilMs: {} };

/** The fold: of each trial that waits, until when. */
export class AwaitingTrials {
  readonly #untilMs: Map<string, number>;
  #position: number;

  constructor({ position, untilMs }: Saved) {
    this.#position = position;
    this.#untilMs = new Map(Object.entries(untilMs));
  }

  get saved(): Saved {
    return { position: this.#position, untilMs: Object.fromEntries(this.#untilMs) };
  }

  get position(): number {
    return this.#position;
  }

  get all(): ReadonlyMap<string, number> {
    return this.#untilMs;
  }

  async readTo(log: EventLog, position: number): Promise<void> {
    while (this.#position < position) {
      const limit = Math.min(runtimeLimits.pageEvents, position - this.#position);
      const page = await log.readAll(this.#position, limit);
      for (const stored of page) this.observe(stored);
      if (page.length === 0) return;
    }
  }

  /** An event that passes by; one that has done so before changes nothing. True when somebody waits now who did not before. */
  observe(stored: StoredEvent): boolean {
    if (stored.position <= this.#position) return false;
    this.#position = stored.position;
    if (categoryOf(stored.stream) !== "trial") return false;
    const event = decodeEvent(stored);
    const id = idOf(stored.stream);
    switch (event.type) {
      case "RunEnded":
      case "RunCheckpointsNamed": {
        const { awaitedUntilMs } = event.data;
        if (awaitedUntilMs === undefined) return false;
        this.#untilMs.set(id, Math.max(awaitedUntilMs, this.#untilMs.get(id) ?? 0));
        return true;
      }
      case "RunRequested":
      case "TrialEnded":
        this.#untilMs.delete(id);
        return false;
      default:
        return false;
    }
  }
}

export async function savedAwaiting(log: EventLog): Promise<Saved | null> {
  const saved = await log.loadSnapshot(awaitingStream, awaitingSchema);
  return saved === null ? null : (JSON.parse(saved.body) as Saved);
}

export type AwaitingDeps = {
  readonly log: EventLog;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class Awaiting {
  readonly #deps: AwaitingDeps;
  readonly #trials: AwaitingTrials;
  /** Trials that were advanced when their time had come, and that time: what keeps them since, a pause perhaps, has none. */
  readonly #over = new Map<string, number>();
  #savedPosition: number;
  readonly loop: EffectLoop;

  private constructor(deps: AwaitingDeps, trials: AwaitingTrials) {
    this.#deps = deps;
    this.#trials = trials;
    this.#savedPosition = trials.position;
    this.loop = new EffectLoop("awaiting", deps, () => this.#step());
  }

  /** Level with the head of the log. */
  static async open(deps: AwaitingDeps): Promise<Awaiting> {
    const { log } = deps;
    const head = await log.head();
    const saved = await savedAwaiting(log);
    // No event before the first save made anybody wait: none is older than the code that saves.
    const trials = new AwaitingTrials(saved ?? { ...nothing, position: head });
    await trials.readTo(log, head);
    const awaiting = new Awaiting(deps, trials);
    if (saved === null) await awaiting.save();
    return awaiting;
  }

  observe(stored: StoredEvent): void {
    if (this.#trials.observe(stored)) this.loop.wake();
    if (this.#trials.position - this.#savedPosition < limits.awaitingSavedEveryEvents) return;
    this.save().catch((error: unknown) => {
      this.#deps.logger.warn({ err: error }, "awaiting_trials_not_saved");
    });
  }

  /** What the next holder starts from. One that fails costs a longer start. */
  async save(): Promise<void> {
    const { saved } = this.#trials;
    this.#savedPosition = saved.position;
    const version = Math.min(saved.position, versionMax);
    await this.#deps.log.saveSnapshot(
      awaitingStream,
      version,
      awaitingSchema,
      JSON.stringify(saved),
    );
  }

  /** Gives the milliseconds until the next time comes. */
  async #step(): Promise<number | null> {
    const { clock } = this.#deps;
    for (const trial of this.#over.keys()) {
      if (!this.#trials.all.has(trial)) this.#over.delete(trial);
    }
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [trial, untilMs] of [...this.#trials.all]) {
      if (this.#over.get(trial) === untilMs) continue;
      if (untilMs > clock.nowMs()) nextMs = Math.min(nextMs, untilMs);
      else await this.#advance(trial, untilMs);
    }
    return Number.isFinite(nextMs) ? Math.max(nextMs - clock.nowMs(), 0) : null;
  }

  async #advance(trial: string, untilMs: number): Promise<void> {
    const { executor, clock } = this.#deps;
    const meta = serviceMeta("experiments");
    await executor.execute({ commitId: newEventId(), meta }, (work) =>
      advance(work, trial, clock.nowMs()),
    );
    this.#over.set(trial, untilMs);
  }
}
