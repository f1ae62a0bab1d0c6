/**
 * Gathers the rows of many requests into one statement. While a write is under way the next batch fills; an idle
 * service writes at once. So a row waits at most for the write before its own, which is bounded in rows and in bytes.
 * Rows are written in the order in which they were added.
 *
 * A batch that the database does not take for what is in it is divided: its halves are written one after the other, and
 * so on, until the request that is to blame fails alone. A fault of the world fails the whole batch: its senders come
 * again.
 */
import { Fault, isFault } from "@trainyard/kernel";

export type BatchLimits = {
  /** Rows of one write, unless one request alone has more. */
  readonly rowsPerWriteMax: number;
  /** Bytes of one write, unless one request alone has more. */
  readonly bytesPerWriteMax: number;
  /** Rows waiting in this process; beyond it a Fault `overloaded`, and the senders keep what they have. */
  readonly rowsWaitingMax: number;
  /** The same for bytes. */
  readonly bytesWaitingMax: number;
};

type Waiting<Row, Result> = {
  readonly rows: readonly Row[];
  readonly bytes: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

export class Batches<Row, Result> {
  readonly #write: (rows: readonly Row[]) => Promise<Result>;
  readonly #bytesOf: (row: Row) => number;
  readonly #limits: BatchLimits;
  #waiting: Waiting<Row, Result>[] = [];
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

  /** Resolves with the result of the batch that these rows were written with. */
  add(rows: readonly Row[]): Promise<Result> {
    const bytes = rows.reduce((sum, row) => sum + this.#bytesOf(row), 0);
    if (this.#isFullFor(rows.length, bytes)) {
      const detail = `${this.#rowsWaiting} rows of ${this.#bytesWaiting} bytes wait for the database already`;
      return Promise.reject(new Fault("overloaded", detail, { retry: "later" }));
    }
    this.#rowsWaiting += rows.length;
    this.#bytesWaiting += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, bytes, resolve, reject });
      if (!this.#writing) void this.#drain();
    });
  }

  #isFullFor(rows: number, bytes: number): boolean {
    if (this.#rowsWaiting === 0) return false;
    const { rowsWaitingMax, bytesWaitingMax } = this.#limits;
    return (
      this.#rowsWaiting + rows > rowsWaitingMax || this.#bytesWaiting + bytes > bytesWaitingMax
    );
  }

  async #drain(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
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

  #take(): readonly Waiting<Row, Result>[] {
    const { rowsPerWriteMax, bytesPerWriteMax } = this.#limits;
    let rows = 0;
    let bytes = 0;
    let taken = 0;
    for (const waiting of this.#waiting) {
      rows += waiting.rows.length;
      bytes += waiting.bytes;
      if (taken > 0 && (rows > rowsPerWriteMax || bytes > bytesPerWriteMax)) break;
      taken += 1;
    }
    const batch = this.#waiting.slice(0, taken);
    this.#waiting = this.#waiting.slice(taken);
    return batch;
  }
}

function isOfTheWorld(error: unknown): boolean {
  return isFault(error) && error.retry !== "never";
}
