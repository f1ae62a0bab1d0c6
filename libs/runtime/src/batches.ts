/**
 * Gathers the rows of many requests into one statement. While a write runs, the next batch fills; an idle service
 * writes at once. A write is bounded in rows and bytes, and takes the requests of the senders in turn, one of each: a
 * sender waits for its own requests, and for one request of each other sender. The requests of one sender are written
 * in the order in which they were added.
 *
 * A batch that the database refuses because of its content is divided: its halves are written one after the other, and
 * so on, until only the bad request fails. A failure outside the program, such as a lost connection, fails the whole
 * batch, and its senders retry.
 */
import { Fault, isFault } from "@trainyard/kernel";

export type BatchLimits = {
  /** The rows of one write, unless a single request has more. */
  readonly rowsPerWriteMax: number;
  /** The bytes of one write, unless a single request has more. */
  readonly bytesPerWriteMax: number;
  /** The most rows that wait in this process; more are refused by a Fault `overloaded`, and the senders keep them. */
  readonly rowsWaitingMax: number;
  /** The most bytes that wait in this process. */
  readonly bytesWaitingMax: number;
};

type Waiting<Row, Result> = {
  readonly rows: readonly Row[];
  readonly bytes: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/** The waiting requests of a sender, with their rows and bytes. */
type Queue<Row, Result> = {
  readonly requests: Waiting<Row, Result>[];
  rows: number;
  bytes: number;
};

export class Batches<Row, Result> {
  readonly #write: (rows: readonly Row[]) => Promise<Result>;
  readonly #bytesOf: (row: Row) => number;
  readonly #limits: BatchLimits;
  /** The waiting requests by sender; the sender whose turn is next is first. */
  readonly #waiting = new Map<string, Queue<Row, Result>>();
  #rowsWaiting = 0;
  #bytesWaiting = 0;
  #writing = false;

  constructor(
    limits: BatchLimits,
    bytesOf: (row: Row) => number,
    write: (rows: readonly Row[]) => Promise<Result>,
  ) {
    this.#limits = limits;
    this.#bytesOf = bytesOf;
    this.#write = write;
  }

  /** Adds rows of a sender; resolves with the result of their batch. */
  add(sender: string, rows: readonly Row[]): Promise<Result> {
    const bytes = rows.reduce((sum, row) => sum + this.#bytesOf(row), 0);
    if (this.#isFullFor(sender, rows.length, bytes)) {
      const detail = `${this.#rowsWaiting} rows of ${this.#bytesWaiting} bytes are waiting for the database already`;
      return Promise.reject(new Fault("overloaded", detail, { retry: "later" }));
    }
    this.#rowsWaiting += rows.length;
    this.#bytesWaiting += bytes;
    return new Promise((resolve, reject) => {
      const own = this.#waiting.get(sender) ?? { requests: [], rows: 0, bytes: 0 };
      this.#waiting.set(sender, own);
      own.requests.push({ rows, bytes, resolve, reject });
      own.rows += rows.length;
      own.bytes += bytes;
      if (!this.#writing) void this.#drain();
    });
  }

  /** A sender takes at most half of the room, so that one that floods leaves some to the others. */
  #isFullFor(sender: string, rows: number, bytes: number): boolean {
    if (this.#rowsWaiting === 0) return false;
    const { rowsWaitingMax, bytesWaitingMax } = this.#limits;
    const isOver = (
      of: { readonly rows: number; readonly bytes: number },
      share: number,
    ): boolean =>
      of.rows + rows > rowsWaitingMax * share || of.bytes + bytes > bytesWaitingMax * share;
    const own = this.#waiting.get(sender);
    if (own !== undefined && isOver(own, 1 / 2)) return true;
    return isOver({ rows: this.#rowsWaiting, bytes: this.#bytesWaiting }, 1);
  }

  async #drain(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.size > 0) {
      const left = [this.#take()];
      for (let batch = left.shift(); batch !== undefined; batch = left.shift()) {
        try {
          const result = await this.#write(batch.flatMap(({ rows }) => rows));
          for (const { resolve } of batch) resolve(result);
        } catch (error) {
          if (batch.length > 1 && !isOfTheWorld(error)) {
            const half = Math.ceil(batch.length / 2);
            left.unshift(batch.slice(0, half), batch.slice(half));
            continue;
          }
          for (const { reject } of batch) reject(error);
        }
        this.#release(batch);
      }
    }
    this.#writing = false;
  }

  #release(batch: readonly Waiting<Row, Result>[]): void {
    for (const { rows, bytes } of batch) {
      this.#rowsWaiting -= rows.length;
      this.#bytesWaiting -= bytes;
    }
  }

  /** Takes one request of each sender in turn, as many as fit into a write, and at least one. */
  #take(): readonly Waiting<Row, Result>[] {
    const { rowsPerWriteMax, bytesPerWriteMax } = this.#limits;
    const batch: Waiting<Row, Result>[] = [];
    let rows = 0;
    let bytes = 0;
    // A sender that is set again follows the others, within this loop, too.
    for (const [sender, own] of this.#waiting) {
      const [first] = own.requests;
      if (first === undefined) break;
      rows += first.rows.length;
      bytes += first.bytes;
      if (batch.length > 0 && (rows > rowsPerWriteMax || bytes > bytesPerWriteMax)) break;
      batch.push(first);
      this.#waiting.delete(sender);
      own.requests.shift();
      own.rows -= first.rows.length;
      own.bytes -= first.bytes;
      if (own.requests.length > 0) this.#waiting.set(sender, own);
    }
    return batch;
  }
}

function isOfTheWorld(error: unknown): boolean {
  return isFault(error) && error.retry !== "never";
}
