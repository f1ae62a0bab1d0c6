/**
 * Retention while an experiment runs: each new checkpoint may push another out of the policy's rankings. An experiment
 * is judged as a whole some seconds after its last change, so one with many checkpoints is not judged for each of them.
 *
 * An ended experiment is judged by the reactions, and here once a value has arrived that its checkpoints waited for.
 *
 * A restart forgets the pending judgements. The next checkpoint of the experiment, or its end, makes up for them; for
 * an ended one the time after which its values are no longer waited for. The search of an experiment that starts trials
 * from earlier checkpoints may name any of them at any time, so such an experiment is judged only from its end on.
 */
import { newEventId } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { EffectLoop, type Executor, type Logger, serviceMeta } from "@trainyard/runtime";
import { gcLimits } from "../limits.ts";
import { condemn, judged, type JudgeDeps } from "./condemn-by-policy.ts";
import type { ExperimentFacts } from "../core/foreign/experiment.ts";
import { experiments } from "../streams.ts";

const meta = serviceMeta("checkpoint-gc");

export type SweeperDeps = JudgeDeps & {
  readonly clock: Clock;
  readonly executor: Executor;
  readonly logger: Logger;
};

export class Sweeper {
  readonly #deps: SweeperDeps;
  readonly loop: EffectLoop;
  /** The time at which each changed experiment is judged. */
  readonly #dueMs = new Map<string, number>();
  /** The monotonic time of the next look for values that are no longer waited for. */
  #overdueAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
    this.loop = new EffectLoop("sweep", deps, (signal) => this.#step(signal));
  }

  /** Notes that an experiment has a new checkpoint, a new validation or an ended run. */
  changed(experiment: string): void {
    if (this.#dueMs.has(experiment)) return;
    this.#dueMs.set(experiment, this.#deps.clock.nowMs() + gcLimits.sweepAfterMs);
    this.loop.wake();
  }

  async #step(signal: AbortSignal): Promise<number | null> {
    const { clock } = this.#deps;
    if (clock.monotonicMs() >= this.#overdueAtMs) {
      const isAll = await this.sweepOverdue(signal);
      if (isAll) this.#overdueAtMs = clock.monotonicMs() + gcLimits.overdueLookMs;
    }
    for (const [experiment, dueMs] of this.#dueMs) {
      if (dueMs > clock.nowMs() || signal.aborted) continue;
      this.#dueMs.delete(experiment);
      const startMs = clock.monotonicMs();
      try {
        await this.sweep(experiment);
      } catch (error) {
        this.#dueMs.set(experiment, dueMs);
        throw error;
      }
      // The judgement of a large experiment uses at most a tenth of the loop's time.
      const tookMs = clock.monotonicMs() - startMs;
      if (this.#dueMs.has(experiment)) {
        const waitMs = Math.max(gcLimits.sweepAfterMs, tookMs * 10);
        this.#dueMs.set(experiment, clock.nowMs() + waitMs);
      }
    }
    const overdueInMs = Math.max(this.#overdueAtMs - clock.monotonicMs(), 0);
    const next = Math.min(...this.#dueMs.values());
    if (next === Number.POSITIVE_INFINITY) return overdueInMs;
    return Math.min(Math.max(next - clock.nowMs(), 1), gcLimits.lookAgainMs);
  }

  /** Judges experiments whose values are no longer waited for. Returns whether these were all. */
  async sweepOverdue(signal: AbortSignal): Promise<boolean> {
    const { index, time } = this.#deps;
    await time.look();
    const endedMs = time.nowMs() - gcLimits.valueAwaitedMs;
    const overdue = await index.overdue(endedMs);
    for (const experiment of overdue) {
      if (signal.aborted) return false;
      await this.sweep(experiment);
      await index.forgetOverdue(experiment, endedMs);
    }
    return overdue.length < gcLimits.page;
  }

  /** Judges an experiment unless it is one that is judged only at its end, or one that is being deleted. */
  async sweep(experiment: string): Promise<void> {
    const { executor } = this.#deps;
    const { state } = await executor.cache.load(experiments, experiment);
    if (!isJudged(state)) return;
    const load = async <State>(
      fold: Parameters<typeof executor.cache.load<State>>[0],
      id: string,
    ) => (await executor.cache.load(fold, id)).state;
    const kept = new Set(await this.#deps.index.kept(experiment));
    for (const [checkpoint, given] of await judged(this.#deps, { load, guard: load }, experiment)) {
      // A condemned checkpoint is judged again when its grace is over.
      if (!kept.has(checkpoint)) continue;
      await executor.execute({ commitId: newEventId(), meta }, async (work) => {
        const now = await work.guard(experiments, experiment);
        if (isJudged(now)) await condemn(this.#deps, work, checkpoint, given);
      });
    }
  }
}

function isJudged({ exists, ended, deletion, startsFromCheckpoints }: ExperimentFacts): boolean {
  return exists && deletion === "none" && (ended || !startsFromCheckpoints);
}
