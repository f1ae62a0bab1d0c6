/** Whether a server that a process needs answers: it counts as away some time after the first failure in a row. */
import type { Clock } from "@trainyard/kernel";

export class LinkWatch {
  /** The subject of the sentence: "the database". */
  readonly #server: string;
  readonly #clock: Clock;
  readonly #awayMs: number;
  #hasAnswered = false;
  #failing: { readonly sinceMs: number; readonly why: string } | null = null;

  constructor(server: string, clock: Clock, awayMs: number) {
    this.#server = server;
    this.#clock = clock;
    this.#awayMs = awayMs;
  }

  answered(): void {
    this.#hasAnswered = true;
    this.#failing = null;
  }

  /** The outage began when the request was sent, not when it was given up. */
  failed(askedMs: number, why: string): void {
    this.#failing = { sinceMs: this.#failing?.sinceMs ?? askedMs, why };
  }

  /** Whether the server has answered at least once. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  get isUp(): boolean {
    return this.reason() === null;
  }

  /** Returns why the process is not ready; at once if the server has never answered. */
  reason(): string | null {
    const failing = this.#failing;
    if (!this.#hasAnswered) {
      const why = failing === null ? "" : ` (${failing.why})`;
      return `${this.#server} has not answered yet${why}`;
    }
    if (failing === null) return null;
    const forMs = this.#clock.monotonicMs() - failing.sinceMs;
    if (forMs < this.#awayMs) return null;
    return `${this.#server} has been away for ${Math.round(forMs / 1_000)} s (${failing.why})`;
  }
}
