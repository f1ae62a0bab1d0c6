type Seen = { readonly cursor: string; readonly atMs: number };

const keptMs = 10_000;

/** The cursors that a stream has recently reached, so that the next stream begins a little before the last cursor. */
export class Cursors {
  #seen: readonly Seen[] = [];

  add(cursor: string, atMs: number): void {
    const [before, last] = this.#seen.slice(-2);
    if (this.#seen.at(-1)?.cursor === cursor) return;
    // One cursor for each tenth of a second is kept, and the latest; of cursors older than the kept time the first
    // stays.
    const isClose = before !== undefined && last !== undefined && last.atMs - before.atMs < 100;
    const rest = isClose ? this.#seen.slice(0, -1) : this.#seen;
    const old = rest.findLastIndex((one) => atMs - one.atMs > keptMs);
    this.#seen = [...rest.slice(Math.max(0, old)), { cursor, atMs }];
  }

  /** The last cursor before this time, or else the first; empty without cursors. */
  before(atMs: number): string {
    return (this.#seen.findLast((one) => one.atMs <= atMs) ?? this.#seen[0])?.cursor ?? "";
  }

  clear(): void {
    this.#seen = [];
  }
}
