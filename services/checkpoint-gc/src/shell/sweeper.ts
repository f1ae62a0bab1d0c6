/**
 * Retention while an experiment runs: each new checkpoint may push another out of the policy's rankings. An experiment
 * is judged as a whole some seconds after its last change, so one with many checkpoints is not judged for each of them.
 *
 * A restart forgets the pending judgements. The next checkpoint of the experiment, or its end, makes up for them. Ended
 * experiments are judged by the reactions only. The search of an experiment that starts trials from earlier checkpoints
 * may name any of them at any time, so such an experiment is judged only at its end.
 */
import { newEventId } from "@trainyard/event-log";
import { EffectLoop, type Executor, type Logger, serviceMeta } from "@trainyard/runtime";
import { gcLimits } from "../limits.ts";
import { condemn, judged, type JudgeDeps } from "./condemn-by-policy.ts";
import { experiments } from "../streams.ts";

const meta = serviceMeta("checkpoint-gc");

export type SweeperDeps = JudgeDeps & { readonly executor: Executor; readonly logger: Logger };

export class Sweeper {
  readonly #deps: SweeperDeps;
  readonly loop: EffectLoop;
  /** The time at which each changed experiment is judged. */
  readonly #dueMs = new Map<string, number>();

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
    this.loop = new EffectLoop("sweep", deps, (signal) => this.#step(signal));
  }

  /** Notes that an experiment has a new checkpoint or a new validation. */
  changed(experiment: string): void {
    if (this.#dueMs.has(experiment)) return;
    this.#dueMs.set(experiment, this.#deps.clock.nowMs() + gcLimits.sweepAfterMs);
    this.loop.wake();
  }

  async #step(signal: AbortSignal): Promise<number | null> {
    const { clock } = this.#deps;
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
    const next = Math.min(...this.#dueMs.values());
    if (next === Number.POSITIVE_INFINITY) return null;
    return Math.min(Math.max(next - clock.nowMs(), 1), gcLimits.lookAgainMs);
  }

  /** Judges an experiment if it is one that is judged while it runs. */
  async sweep(experiment: string): Promise<void> {
    const { executor, index } = this.#deps;
    const { state } = await executor.cache.load(experiments, experiment);
    if (!state.exists || state.ended || state.startsFromCheckpoints) return;
    const load = async <State>(
      fold: Parameters<typeof executor.cache.load<State>>[0],
      id: string,
    ) => (await executor.cache.load(fold, id)).state;
    for (const [checkpoint, given] of await judged(index, { load, guard: load }, experiment)) {
      await executor.execute({ commitId: newEventId(), meta }, async (work) => {
        const { ended } = await work.guard(experiments, experiment);
        if (!ended) await condemn(this.#deps, work, checkpoint, given);
      });
    }
  }
}
