/** One attempt within its time, which says what it does. */
import type { Client } from "@trainyard/client";
import { Fault, pause } from "@trainyard/kernel";

/** Between two questions. */
export const pollMs = 500;

export class Attempt {
  readonly client: Client;
  readonly say: (line: string) => void;
  readonly #seconds: number;
  readonly #endMs: number;

  constructor(client: Client, seconds: number, say: (line: string) => void) {
    this.client = client;
    this.say = say;
    this.#seconds = seconds;
    this.#endMs = client.clock.monotonicMs() + seconds * 1_000;
  }

  /**
   * Asks until the answer is not null. Throws a Fault with the last state when the time of the attempt is over, or that
   * of this question.
   */
  async until<Answer>(
    ask: () => Promise<Answer | null>,
    state: () => string,
    seconds = this.#seconds,
  ): Promise<Answer> {
    const endMs = Math.min(this.#endMs, this.client.clock.monotonicMs() + seconds * 1_000);
    for (;;) {
      const answer = await ask();
      if (answer !== null) return answer;
      if (this.client.clock.monotonicMs() > endMs) {
        throw failed(`${state()} after ${Math.min(seconds, this.#seconds)} s`);
      }
      await pause(this.client.clock, pollMs);
    }
  }
}

export const failed = (told: string): Fault => new Fault("test_failed", told, { retry: "never" });
