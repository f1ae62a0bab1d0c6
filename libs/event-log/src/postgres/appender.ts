/**
 * Group commit: the concurrent appends of a process and role are sent as one statement with one fsync.
 *
 * States of an append: waiting (in arrival order), sent (in a batch), settled. At most `batchesInFlightMax` batches are
 * in flight, on one connection, so the database receives them in arrival order. If a batch fails, its appends are sent
 * again one by one, so that one bad append does not affect others. This is safe because a commit that had succeeded
 * returns its first result.
 */
import { Fault } from "@trainyard/kernel";
import { logLimits } from "../limits.ts";
import type { AppendRequest, AppendResult } from "../port.ts";
import { bytesOf, refusalOf } from "../refusal.ts";
import { type AppendRow, appendQuery, appendResults } from "./batch.ts";
import type { LazyConnection } from "./connection.ts";
import { faultOf, wasAnswered } from "./faults.ts";

type Waiting = {
  readonly request: AppendRequest;
  readonly bytes: number;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
};

export class Appender {
  readonly #connection: LazyConnection;
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #scheduled = false;
  #closed = false;
  #idle: (() => void)[] = [];
  /** Called with the fault of each statement that failed, and with null after one that the database carried out. */
  readonly #noted: (fault: Fault | null) => void;

  constructor(connection: LazyConnection, noted: (fault: Fault | null) => void = () => {}) {
    this.#connection = connection;
    this.#noted = noted;
  }

  append(request: AppendRequest): Promise<AppendResult> {
    const refusal = refusalOf(request);
    if (refusal !== undefined) return Promise.resolve(refusal);
    if (this.#closed) {
      return Promise.reject(new Fault("log_closed", "the log was closed", { retry: "never" }));
    }
    if (this.#waiting.length >= logLimits.waitingAppendsMax) {
      const detail = `too many appends are waiting: the limit is ${logLimits.waitingAppendsMax}`;
      return Promise.reject(new Fault("log_overloaded", detail, { retry: "later" }));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, bytes: bytesOf(request), resolve, reject });
      this.#schedule();
    });
  }

  /** Runs after the current turn of the event loop, so that callers that resume together share a batch. */
  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= logLimits.batchesInFlightMax) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#sendWaiting();
    });
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0 && this.#inFlight < logLimits.batchesInFlightMax) {
      this.#inFlight += 1;
      void this.#settle(this.#takeBatch()).then(() => {
        this.#inFlight -= 1;
        if (this.#waiting.length > 0) this.#schedule();
        else if (this.#inFlight === 0) for (const wake of this.#idle.splice(0)) wake();
      });
    }
  }

  /**
   * If no batch is in flight and many appends wait, a quarter of them stays for a second batch. The database then works
   * on one batch while this process handles the answers to the other and collects new appends.
   */
  #takeBatch(): readonly Waiting[] {
    const { length } = this.#waiting;
    const alone = this.#inFlight === 1 && length > logLimits.splitBatchAbove;
    const countMax = Math.min(logLimits.batchCommitsMax, alone ? Math.ceil(length * 0.75) : length);
    let bytes = 0;
    let count = 0;
    for (const { bytes: more } of this.#waiting) {
      if (count === countMax) break;
      if (count > 0 && bytes + more > logLimits.batchBytesMax) break;
      bytes += more;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** Never throws: every append of the batch gets its outcome. */
  async #settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#send(batch);
      batch.forEach(({ resolve }, index) => resolve(results[index] as AppendResult));
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(faultOf(error, "appending"));
      else await this.#settleOneByOne(batch);
    }
  }

  async #settleOneByOne(batch: readonly Waiting[]): Promise<void> {
    for (const [index, waiting] of batch.entries()) {
      try {
        const [result] = await this.#send([waiting]);
        waiting.resolve(result as AppendResult);
      } catch (error) {
        const fault = faultOf(error, "appending");
        waiting.reject(fault);
        if (wasAnswered(error)) continue;
        // The server is unavailable: the remaining appends would fail the same way.
        for (const later of batch.slice(index + 1)) later.reject(fault);
        return;
      }
    }
  }

  async #send(batch: readonly Waiting[]): Promise<readonly AppendResult[]> {
    const requests = batch.map(({ request }) => request);
    try {
      const rows = await this.#connection.query<[...AppendRow]>({
        ...appendQuery(requests),
        rowMode: "array",
      });
      this.#noted(null);
      return appendResults(requests, rows);
    } catch (error) {
      this.#noted(faultOf(error, "appending"));
      throw error;
    }
  }

  /** Refuses new appends and resolves when the last append has its outcome. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#waiting.length === 0 && this.#inFlight === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
