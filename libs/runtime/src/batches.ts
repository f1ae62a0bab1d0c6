/**
 * Gathers the rows of many requests into one statement. While a write runs, the next batch fills; an idle service
 * writes at once. So a row waits at most for the previous write, which is bounded in rows and bytes. Rows are written
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

  /** Adds rows; resolves with the result of their batch. */
  add(rows: readonly Row[]): Promise<Result> {
    const bytes = rows.reduce((sum, row) => sum + this.#bytesOf(row), 0);
    if (this.#isFullFor(rows.length, bytes)) {
      const detail = `${this.#rowsWaiting} rows of ${this.#bytesWaiting} bytes are waiting for the database already`;
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
