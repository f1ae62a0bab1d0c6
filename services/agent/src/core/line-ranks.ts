/**
 * The ranks of lines: a launcher writes `[rank=3] ` before each line of a process, and the prefix stays in the text.
 * The parts of a long line have the rank of its beginning. Any process may write such a prefix, which affects only
 * lines of its own run.
 */
const prefix = /^\[rank=([0-9]{1,9})\] /;

type Line = { readonly source: number; readonly text: string; readonly continued: boolean };

export class LineRanks {
  /** The rank of each source's unfinished line. */
  readonly #open: Map<number, number | null>;

  constructor(open: ReadonlyMap<number, number | null> = new Map()) {
    this.#open = new Map(open);
  }

  copy(): LineRanks {
    return new LineRanks(this.#open);
  }

  /** Returns the rank of the next line, or of a part of a line; null for a line without a rank. */
  next({ source, text, continued }: Line): number | null {
    const begun = this.#open.get(source);
    const rank = begun === undefined ? rankOf(text) : begun;
    if (continued) this.#open.set(source, rank);
    else this.#open.delete(source);
    return rank;
  }
}

function rankOf(text: string): number | null {
  const digits = prefix.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}
