/**
 * The trials whose next run waits for checkpoints of the last run, and until when. The waits are folded from the log
 * and saved now and then, so a new leader reads only the rest. No wait is lost in a crash, because none depends on a
 * timer in memory. When a wait is over, the trial is advanced, and its next run starts from a complete checkpoint.
 *
 * The times are by the log's clock, which may differ from this host's. When this process first sees a wait, the rest of
 * it is the difference to the newest event's time. That rest is counted on the monotonic clock. A new leader cannot
 * know how much time has passed since the newest event, so a wait may last up to one whole wait after the takeover.
 */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import { type EventLog, newEventId, type StoredEvent } from "@trainyard/event-log";
import { categoryOf, type Clock, idOf } from "@trainyard/kernel";
import {
  EffectLoop,
  type Executor,
  foldOf,
  type Logger,
  runtimeLimits,
  serviceMeta,
} from "@trainyard/runtime";
import type { TryDelays } from "../core/trial/tries.ts";
import { limits } from "../limits.ts";
import { advance, type Waits } from "./advance.ts";
import { type LogFold, type LogFoldPlace, loadLogFold, saveLogFold } from "./log-folds.ts";
import { isOfOneDecision } from "./one-decision.ts";
import { trials } from "../streams.ts";

export const awaitingPlace: LogFoldPlace = {
  stream: "trial-awaiting",
  schema: "awaiting-trials/1",
  what: "the trials that wait",
};

export type Saved = LogFold & { readonly untilMs: Readonly<Record<string, number>> };

export const nothing: Saved = { event: "", position: 0, untilMs: {} };

/** The fold of the waits: until when each trial waits. */
export class AwaitingTrials {
  readonly #untilMs: Map<string, number>;
  #event: string;
  #position: number;
  /** The time of the newest event, by the log's clock. */
  #timeMs = 0;

  constructor({ event, position, untilMs }: Saved) {
    this.#event = event;
    this.#position = position;
    this.#untilMs = new Map(Object.entries(untilMs));
  }

  get saved(): Saved {
    const untilMs = Object.fromEntries(this.#untilMs);
    return { event: this.#event, position: this.#position, untilMs };
  }

  get position(): number {
    return this.#position;
  }

  get all(): ReadonlyMap<string, number> {
    return this.#untilMs;
  }

  get timeMs(): number {
    return this.#timeMs;
  }

  async readTo(log: EventLog, position: number): Promise<void> {
    while (this.#position < position) {
      const limit = Math.min(runtimeLimits.pageEvents, position - this.#position);
      const page = await log.readAll(this.#position, limit);
      for (const stored of page) this.observe(stored);
      if (page.length === 0) return;
    }
  }

  /** Advances the time of the newest event. */
  passed(timeMs: number): void {
    this.#timeMs = Math.max(this.#timeMs, timeMs);
  }

  /** Folds an event; a repeated one changes nothing. Returns whether a trial waits that did not before. */
  observe(stored: StoredEvent): boolean {
    if (stored.position <= this.#position) return false;
    this.#position = stored.position;
    this.passed(stored.timeMs);
    this.#event = stored.id;
    if (categoryOf(stored.stream) !== "trial") return false;
    const id = idOf(stored.stream);
    switch (shortNameOf(stored.type)) {
      case "RunEnded":
      case "RunCheckpointsNamed":
      case "TrialContinued":
        return this.#wait(id, stored);
      case "RunRequested":
      case "TrialEnded":
        this.#untilMs.delete(id);
        return false;
      default:
        return false;
    }
  }

  /** Drops an ended trial, also if older events name a wait of it. */
  drop(trial: string): void {
    this.#untilMs.delete(trial);
  }

  #wait(id: string, stored: StoredEvent): boolean {
    const event = decodeEvent(stored);
    const awaitedUntilMs = "awaitedUntilMs" in event.data ? (event.data.awaitedUntilMs ?? 0) : 0;
    if (awaitedUntilMs === 0) return false;
    this.#untilMs.set(id, Math.max(awaitedUntilMs, this.#untilMs.get(id) ?? 0));
    return true;
  }
}

async function timeOf(log: EventLog, position: number): Promise<number> {
  if (position === 0) return 0;
  return (await log.readAll(position - 1, 1))[0]?.timeMs ?? 0;
}

/** Returns the saved state; null if none was saved. A state of another history is discarded. */
export async function savedAwaiting(
  deps: Pick<AwaitingDeps, "log" | "logger">,
): Promise<Saved | null> {
  const found = await loadLogFold<Saved>(deps, awaitingPlace);
  if (found === "none") return null;
  return found === "another_history" ? nothing : found;
}

export type AwaitingDeps = {
  readonly log: EventLog;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly delays: TryDelays;
};

/** A wait: `untilMs` is by the log's clock, `dueMs` by the monotonic clock. */
type Wait = { readonly untilMs: number; readonly dueMs: number };

export class Awaiting implements Waits {
  readonly delays: TryDelays;
  readonly #deps: AwaitingDeps;
  readonly #trials: AwaitingTrials;
  /**
   * The waits that ended and advanced their trial. If the trial still has no run, for example during a pause, it is not
   * retried by time.
   */
  readonly #over = new Map<string, number>();
  /** The rest of each wait, as this process first saw it. */
  readonly #waits = new Map<string, Wait>();
  #savedPosition: number;
  readonly loop: EffectLoop;

  private constructor(deps: AwaitingDeps, fold: AwaitingTrials) {
    this.delays = deps.delays;
    this.#deps = deps;
    this.#trials = fold;
    this.#savedPosition = fold.position;
    this.loop = new EffectLoop("awaiting", deps, () => this.#step());
  }

  /** Opens the fold at the head of the log. */
  static async open(deps: AwaitingDeps): Promise<Awaiting> {
    const { log } = deps;
    const head = await log.head();
    const saved = await savedAwaiting(deps);
    // Without a saved fold the whole log is read once, and the result is saved immediately.
    const from = saved ?? nothing;
    const fold = new AwaitingTrials(from);
    await fold.readTo(log, head);
    if (fold.timeMs === 0) fold.passed(await timeOf(log, fold.position));
    const awaiting = new Awaiting(deps, fold);
    if (from === nothing) await awaiting.save();
    return awaiting;
  }

  observe(stored: StoredEvent): void {
    if (this.#trials.observe(stored)) {
      this.#look();
      this.loop.wake();
    }
    if (this.#trials.position - this.#savedPosition < limits.awaitingSavedEveryEvents) return;
    this.save().catch((error: unknown) => {
      this.#deps.logger.warn({ err: error }, "awaiting_trials_not_saved");
    });
  }

  /** Saves the state that the next leader starts from. A failure only makes that start slower. */
  async save(): Promise<void> {
    const { saved } = this.#trials;
    this.#savedPosition = saved.position;
    await saveLogFold(this.#deps.log, awaitingPlace, saved);
  }

  /** Advances the trials that are due. Returns the milliseconds until the next one. */
  async #step(): Promise<number | null> {
    const { clock } = this.#deps;
    this.#look();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [trial, { untilMs, dueMs }] of [...this.#waits]) {
      if (this.#over.get(trial) === untilMs) continue;
      if (dueMs > clock.monotonicMs()) nextMs = Math.min(nextMs, dueMs);
      else await this.#advance(trial, untilMs);
    }
    return Number.isFinite(nextMs) ? Math.max(nextMs - clock.monotonicMs(), 0) : null;
  }

  /** Adds new waits, and drops those that have ended. */
  #look(): void {
    const { all, timeMs } = this.#trials;
    const nowMs = this.#deps.clock.monotonicMs();
    for (const trial of this.#waits.keys()) {
      if (all.has(trial)) continue;
      this.#waits.delete(trial);
      this.#over.delete(trial);
    }
    for (const [trial, untilMs] of all) {
      if (this.#waits.get(trial)?.untilMs === untilMs) continue;
      this.#waits.set(trial, { untilMs, dueMs: nowMs + Math.max(0, untilMs - timeMs) });
    }
  }

  trials(): Iterable<string> {
    return this.#trials.all.keys();
  }

  isOver(trial: string, untilMs: number): boolean {
    const wait = this.#waits.get(trial);
    return wait?.untilMs === untilMs && this.#deps.clock.monotonicMs() >= wait.dueMs;
  }

  async #advance(trial: string, untilMs: number): Promise<void> {
    const { executor, logger } = this.#deps;
    const meta = serviceMeta("experiments");
    try {
      await executor.execute({ commitId: newEventId(), meta }, (work) =>
        advance(work, trial, this),
      );
      const { state } = await executor.cache.load(foldOf(trials), trial);
      if (state.status === "ended") this.#trials.drop(trial);
    } catch (error) {
      if (!isOfOneDecision(error)) throw error;
      // Only this trial's run is not requested; the others continue.
      logger.error({ err: error, trial }, "awaiting_trial_left_out");
    }
    this.#over.set(trial, untilMs);
  }
}
