/**
 * Log lines of expected retries. A fault that the program handles by a retry is one line without a stack, at most once
 * a minute for each cause; the next line has the number of those left out. An outage of the database or the bus is one
 * cause for all loops that notice it. An error that is no fault keeps its stack: it may be a bug.
 */
import { type Clock, isFault } from "@trainyard/kernel";
import { runtimeLimits } from "../limits.ts";
import { isDatabaseAway, isDatabaseSlow } from "../table-fault.ts";
import { retryReason } from "./retry-reason.ts";

type Fields = Readonly<Record<string, unknown>>;
type Told = { readonly atMs: number; leftOut: number };

export class RetryLines {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #told = new Map<string, Told>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** Returns the fields of the line; null if the line is left out. */
  fieldsOf(message: string, fields: Fields): Fields | null {
    const { err, ...rest } = fields;
    if (!isExpected(err)) return fields;
    const reason = retryReason(err);
    const leftOut = this.#leftOut(outageOf(err) ?? `${message}\n${reason}`);
    if (leftOut === null) return null;
    return { ...rest, reason, ...(leftOut === 0 ? {} : { leftOut }) };
  }

  #leftOut(cause: string): number | null {
    const nowMs = this.#clock.monotonicMs();
    const told = this.#told.get(cause);
    if (told !== undefined && nowMs - told.atMs < runtimeLimits.retryLoggedMs) {
      told.leftOut += 1;
      return null;
    }
    this.#told.delete(cause);
    this.#told.set(cause, { atMs: nowMs, leftOut: 0 });
    const [oldest] = this.#told.keys();
    if (this.#told.size > runtimeLimits.retryCausesKept && oldest !== undefined)
      this.#told.delete(oldest);
    return told?.leftOut ?? 0;
  }
}

function isExpected(error: unknown): boolean {
  return isFault(error) || isDatabaseAway(error) || isDatabaseSlow(error);
}

function outageOf(error: unknown): string | null {
  if (isDatabaseAway(error)) return "database";
  return isFault(error) && error.code === "bus_away" ? "bus" : null;
}
