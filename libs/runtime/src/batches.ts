/**
 * Gathers the rows of many requests into one statement. While a write is under way the next batch fills; an idle service
 * writes at once. So a row waits at most for the write before its own, which is bounded in rows. Rows are written in the
 * order in which they were added.
 */
import { Fault } from "@trainyard/kernel";

export type BatchLimits = {
  /** Rows of one write, unless one request alone has more. */
  readonly rowsPerWriteMax: number;
  /** Rows waiting in this process; beyond it a Fault `overloaded`, and the senders keep what they have. */
  readonly rowsWaitingMax: number;
};

type Waiting<Row, Result> = {
  readonly rows: readonly Row[];
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

export class Batches<Row, Result> {
  readonly #write: (rows: readonly Row[]) => Promise<Result>;
  readonly #limits: BatchLimits;
  #waiting: Waiting<Row, Result>[] = [];
  #rowsWaiting = 0;
  #writing = false;

  constructor(limits: BatchLimits, write: (rows: readonly Row[]) => Promise<Result>) {
    this.#limits = limits;
    this.#write = write;
  }

  /** Resolves with the result of the batch that these rows were written with. */
  add(rows: readonly Row[]): Promise<Result> {
    if (this.#rowsWaiting > 0 && this.#rowsWaiting + rows.length > this.#limits.rowsWaitingMax) {
      const detail = `${this.#rowsWaiting} rows wait for the database already`;
      return Promise.reject(new Fault("overloaded", detail, { retry: "later" }));
    }
    this.#rowsWaiting += rows.length;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, resolve, reject });
      if (!this.#writing) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      const rows = batch.flatMap((waiting) => waiting.rows);
      try {
        const result = await this.#write(rows);
        for (const { resolve } of batch) resolve(result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      this.#rowsWaiting -= rows.length;
    }
    this.#writing = false;
  }

  #take(): readonly Waiting<Row, Result>[] {
    let rows = 0;
    let taken = 0;
    for (const waiting of this.#waiting) {
      if (taken > 0 && rows + waiting.rows.length > this.#limits.rowsPerWriteMax) break;
      rows += waiting.rows.length;
      taken += 1;
    }
    const batch = this.#waiting.slice(0, taken);
    this.#waiting = this.#waiting.slice(taken);
    return batch;
  }
}
