/**
 * Whether the database takes what is appended to the log. It may answer every query and refuse each write: its disk is
 * full, or it became a read-only standby.
 */
import type { Clock, Fault } from "@trainyard/kernel";
import { runtimeLimits } from "../limits.ts";

/** Codes of the log's faults by which the database refuses every write. */
const refusals: readonly string[] = ["log_full", "log_read_only", "log_overloaded"];

export class WriteWatch {
  readonly #clock: Pick<Clock, "monotonicMs">;
  #failing: { readonly sinceMs: number; readonly lastMs: number; readonly why: string } | null =
    null;

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** Notes the fault of an append, or null for one that the database carried out. */
  noted(fault: Fault | null): void {
    if (fault === null) this.#failing = null;
    if (fault === null || !refusals.includes(fault.code)) return;
    const lastMs = this.#clock.monotonicMs();
    this.#failing = { sinceMs: this.#failing?.sinceMs ?? lastMs, lastMs, why: fault.message };
  }

  /** Returns the refusal that lasts; null for none, or if nothing was appended for a while. */
  reason(awayMs: number): string | null {
    if (this.#failing === null) return null;
    const { sinceMs, lastMs, why } = this.#failing;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - lastMs > runtimeLimits.writeForgottenMs || lastMs - sinceMs < awayMs) return null;
    const seconds = Math.round((nowMs - sinceMs) / 1_000);
    return `the database has refused writes for ${seconds} s (${why})`;
  }
}
