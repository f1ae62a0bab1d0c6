/**
 * Retention while an experiment runs: each new checkpoint may push another out of what the policy keeps. An experiment
 * is judged as a whole some seconds after its last change, so that one with many checkpoints is not judged for each of
 * them. What is forgotten at a restart is judged after the next checkpoint, and all of it again when the experiment
 * ends. An experiment that has ended is left to the reactions: nothing is judged here because this process is new.
 *
 * A search that starts trials from earlier checkpoints of others may name any of them at any time: such an experiment
 * is judged at its end only.
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

  /** An experiment has a new checkpoint, or a new value of one. */
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
      // A large experiment takes at most a tenth of the time.
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

  /** Judges an experiment now, if it is one that is judged while it runs. */
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
