/**
 * The time by which a reader of the log is behind: the age of the oldest end of the log that it has not reached. The
 * ends are samples, so a reader that is always late by a minute is a minute behind, although it moves all the time.
 */
const samplesMax = 256;

type Sample = { readonly position: number; readonly atMs: number };

export class Lag {
  #samples: Sample[] = [];
  #lateSinceMs: number | null = null;

  /** Records the log's end and the reader's position, which is null while it does not have to read. */
  saw(head: number, position: number | null, nowMs: number, behindMs: number): void {
    // After a rewind the log's former end can never be reached.
    const left = this.#samples.filter((sample) => sample.position <= head);
    this.#samples = position === null ? [] : left.filter((sample) => sample.position > position);
    const last = this.#samples.at(-1);
    if (position !== null && head > (last?.position ?? position))
      this.#samples.push({ position: head, atMs: nowMs });
    // The oldest sample stays, since it says how late the reader is.
    if (this.#samples.length > samplesMax)
      this.#samples = this.#samples.filter((_, index) => index % 2 === 0);
    if (this.behindMs(nowMs) <= behindMs) this.#lateSinceMs = null;
    else this.#lateSinceMs ??= nowMs;
  }

  behindMs(nowMs: number): number {
    const [oldest] = this.#samples;
    return oldest === undefined ? 0 : nowMs - oldest.atMs;
  }

  /** Returns for how long the reader has been late without a break. */
  lateForMs(nowMs: number): number {
    return this.#lateSinceMs === null ? 0 : nowMs - this.#lateSinceMs;
  }
}
