/**
 * Sets aside what throws, for a while and with its reason: the placement or the explanation of one pool, or the launch
 * of one run. Then all others continue, and the term does not end.
 */
import { limits } from "../../limits.ts";

export type Guarded = "placement" | "explanation" | "launch";

type Thrown = { readonly pool: string; readonly untilMs: number; readonly reason: string };

export class Guard {
  readonly #nowMs: () => number;
  readonly #onThrown: (what: Guarded, of: string, error: unknown) => void;
  readonly #thrown = new Map<string, Thrown>();

  constructor(
    nowMs: () => number,
    onThrown: (what: Guarded, of: string, error: unknown) => void = () => {},
  ) {
    this.#nowMs = nowMs;
    this.#onThrown = onThrown;
  }

  /** Returns what `run` returns for a pool; null if it throws, or is set aside. */
  attempt<Result>(what: Guarded, pool: string, run: () => Result): Result | null {
    if (this.has(what, pool)) return null;
    try {
      return run();
    } catch (error) {
      this.add(what, pool, pool, error);
      return null;
    }
  }

  has(what: Guarded, of: string): boolean {
    const thrown = this.#thrown.get(`${what} of ${of}`);
    return thrown !== undefined && this.#nowMs() < thrown.untilMs;
  }

  /** `of` is the pool, or one of its runs. */
  add(what: Guarded, of: string, pool: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const untilMs = this.#nowMs() + limits.setAsideMs;
    for (const [name, one] of this.#thrown) {
      if (one.untilMs <= this.#nowMs()) this.#thrown.delete(name);
    }
    this.#thrown.set(`${what} of ${of}`, { pool, untilMs, reason });
    this.#onThrown(what, of, error);
  }

  /** The first things that are set aside in a pool, with their reasons; empty for none. */
  asideIn(pool: string): string {
    const thrown = [...this.#thrown].filter(
      ([, one]) => one.pool === pool && this.#nowMs() < one.untilMs,
    );
    const named = thrown.slice(0, limits.runsNamedMax);
    return named.map(([name, { reason }]) => `${name}: ${reason}`).join("; ");
  }
}
