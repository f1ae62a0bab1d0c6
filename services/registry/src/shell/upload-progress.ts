/**
 * Which uploads of ended runs move: an uploader asks for a plan every minute, and a plan that differs from the one before
 * means that the store has more. What a restart forgets is seen again with the next two plans.
 */
import type { Clock } from "@trainyard/kernel";
import { registryLimits } from "../limits.ts";

type Seen = { readonly mark: string; readonly toldAtMs: number };

export class UploadProgress {
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether to record progress now. `mark` stands for what is missing. */
  isNews(checkpoint: string, mark: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#seen.get(checkpoint);
    const isNews =
      before !== undefined &&
      before.mark !== mark &&
      nowMs - before.toldAtMs >= registryLimits.uploadToldMs;
    const toldAtMs = isNews ? nowMs : (before?.toldAtMs ?? Number.NEGATIVE_INFINITY);
    this.#seen.delete(checkpoint);
    this.#seen.set(checkpoint, { mark, toldAtMs });
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > registryLimits.verificationsRememberedMax && oldest !== undefined) {
      this.#seen.delete(oldest);
    }
    return isNews;
  }
}
