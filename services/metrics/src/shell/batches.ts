/**
 * Gathers the rows of many requests into one insert. While an insert is under way the next batch fills; an idle service
 * inserts at once. So a row waits at most for the insert before its own, which is bounded in rows.
 */
import { Fault } from "@trainyard/kernel";
import { metricsLimits } from "../limits.ts";

type Waiting<Row, Result> = {
  readonly rows: readonly Row[];
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

export class Batches<Row, Result> {
  readonly #write: (rows: readonly Row[]) => Promise<Result>;
  #waiting: Waiting<Row, Result>[] = [];
  #rowsWaiting = 0;
  #writing = false;

  constructor(write: (rows: readonly Row[]) => Promise<Result>) {
    this.#write = write;
  }

  /** Resolves with the result of the batch that these rows were written with. */
  add(rows: readonly Row[]): Promise<Result> {
    if (this.#rowsWaiting + rows.length > metricsLimits.rowsWaitingMax) {
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
      if (taken > 0 && rows + waiting.rows.length > metricsLimits.rowsPerInsertMax) break;
      rows += waiting.rows.length;
      taken += 1;
    }
    const batch = this.#waiting.slice(0, taken);
    this.#waiting = this.#waiting.slice(taken);
    return batch;
  }
}
