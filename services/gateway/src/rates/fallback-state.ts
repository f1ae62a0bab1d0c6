/**
 * The shared state, and in place of it the replica's own one while that is away. A breaker keeps calls from waiting: an
 * answer that fails or is late opens it, and then calls use the own state. Once in a while a call is also sent to the
 * shared state, without waiting for it; an answer in time closes the breaker. There is at most one such call at a time.
 */
import { type Clock, Fault } from "@trainyard/kernel";
import { rateLimits } from "./limits.ts";
import type { SharedState } from "./shared-state.ts";
import type { Rate, Taken } from "./token-bucket.ts";

export type FallbackDeps = {
  readonly shared: SharedState;
  readonly own: SharedState;
  readonly clock: Clock;
  /** Called when the shared state goes away, once until it is back. */
  readonly away: (error: unknown) => void;
  readonly back: () => void;
};

type Call<Answer> = (state: SharedState) => Promise<Answer>;

export class FallbackState implements SharedState {
  readonly #deps: FallbackDeps;
  #isOpen = false;
  #isTrying = false;
  #nextTryMs = 0;

  constructor(deps: FallbackDeps) {
    this.#deps = deps;
  }

  take(key: string, rate: Rate): Promise<Taken> {
    return this.#call((state) => state.take(key, rate));
  }

  get(key: string): Promise<Uint8Array | null> {
    return this.#call((state) => state.get(key));
  }

  put(key: string, bytes: Uint8Array, keptMs: number): Promise<void> {
    return this.#call((state) => state.put(key, bytes, keptMs));
  }

  async #call<Answer>(call: Call<Answer>): Promise<Answer> {
    const { own, clock } = this.#deps;
    if (this.#isOpen) {
      if (!this.#isTrying && clock.monotonicMs() >= this.#nextTryMs) void this.#try(call);
      return call(own);
    }
    try {
      return await this.#inTime(call);
    } catch (error) {
      this.fail(error);
      return call(own);
    }
  }

  /** Opens the breaker. */
  fail(error: unknown): void {
    this.#nextTryMs = this.#deps.clock.monotonicMs() + rateLimits.redisRetryMs;
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#deps.away(error);
  }

  async #try(call: Call<unknown>): Promise<void> {
    this.#isTrying = true;
    try {
      await this.#inTime(call);
      this.#isOpen = false;
      this.#deps.back();
    } catch (error) {
      this.fail(error);
    } finally {
      this.#isTrying = false;
    }
  }

  async #inTime<Answer>(call: Call<Answer>): Promise<Answer> {
    const { clock, shared } = this.#deps;
    const ms = rateLimits.redisAnswerMs;
    const late = Promise.withResolvers<never>();
    const fail = (): void =>
      late.reject(new Fault("redis_late", `no answer within ${ms} ms`, { retry: "later" }));
    // An answer that came while this process was busy is read between the two timers.
    let timer = clock.timer(ms, () => (timer = clock.timer(0, fail)));
    try {
      return await Promise.race([call(shared), late.promise]);
    } finally {
      timer[Symbol.dispose]();
    }
  }
}
