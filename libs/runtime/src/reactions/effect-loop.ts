/**
 * A level-triggered effect: performs the actions that the state requires, and runs again when woken, at its next
 * deadline, or after a fault. It keeps no state, so after a crash at any point it is simply repeated.
 */
import { type Clock, isFault, pause, type RetryPolicy, retrying } from "@trainyard/kernel";
import { endsTerm } from "../work/ends-term.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";
import { noTracer, type Tracer } from "../tracing/tracer.ts";
import { duringEffect, type EffectSpan } from "./effect-span.ts";

type Step = (signal: AbortSignal, span: EffectSpan) => Promise<number | null>;

export class EffectLoop {
  readonly #name: string;
  /** Performs all due actions and returns the milliseconds until the next deadline; null for no deadline. */
  readonly #step: Step;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #policy: RetryPolicy;
  #woken = false;
  #stopWaiting: () => void = () => {};

  constructor(
    name: string,
    deps: { readonly clock: Clock; readonly logger: Logger },
    step: Step,
    policy: RetryPolicy = runtimeLimits.effectRetry,
  ) {
    this.#name = name;
    this.#step = step;
    this.#clock = deps.clock;
    this.#logger = deps.logger;
    this.#policy = policy;
  }

  /** Called when the state may require an action. */
  wake(): void {
    this.#woken = true;
    this.#stopWaiting();
  }

  /** Runs until the signal aborts. Throws errors that end the term. */
  async run(signal: AbortSignal, tracer: Tracer = noTracer): Promise<void> {
    const failed = (error: unknown, waitMs: number): void => {
      if (endsTerm(error)) throw error;
      this.#tell(error, waitMs);
    };
    const [name, clock] = [this.#name, this.#clock];
    const retry = { policy: this.#policy, clock, signal, failed };
    while (!signal.aborted) {
      // Waking does not shorten the wait after a failure, so that a failed peer gets few requests.
      const waitMs = await retrying(retry, () => {
        this.#woken = false;
        return duringEffect({ tracer, clock }, { name }, (span) => this.#step(signal, span));
      });
      if (waitMs !== undefined) await this.#rest(waitMs, signal);
    }
  }

  #tell(error: unknown, waitMs: number): void {
    const fields = { err: error, effect: this.#name, waitMs };
    if (isFault(error)) this.#logger.warn(fields, "effect_retried");
    else this.#logger.error(fields, "effect_failed");
  }

  async #rest(waitMs: number | null, signal: AbortSignal): Promise<void> {
    if (this.#woken || signal.aborted) return;
    const waiting = new AbortController();
    const stop = (): void => waiting.abort();
    this.#stopWaiting = stop;
    signal.addEventListener("abort", stop, { once: true });
    // A timer's delay has 32 bits; during a longer wait the step runs once more.
    await pause(this.#clock, Math.min(waitMs ?? 0x7fffffff, 0x7fffffff), waiting.signal);
    signal.removeEventListener("abort", stop);
    this.#stopWaiting = () => {};
  }
}
