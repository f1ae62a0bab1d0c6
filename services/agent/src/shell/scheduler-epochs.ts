/**
 * The scheduler's epochs that this agent has seen. A log that goes back restarts its services, and the scheduler then
 * counts from an epoch above all that agents have seen. So after each rise the log may be another one than before.
 */
import type { Telemetry } from "../telemetry.ts";
import { isDiskFull, names, readRecord, writeRecord } from "../state/layout.ts";

export class SchedulerEpochs {
  readonly #folder: string;
  readonly #events: Pick<Telemetry, "diskFull">;
  #highest = 0;
  #written: number;
  #risen = Promise.withResolvers<void>();

  constructor(folder: string, events: Pick<Telemetry, "diskFull">) {
    this.#folder = folder;
    this.#events = events;
    const seen = readRecord<{ epoch: number }>(folder, names.agent)?.epoch;
    if (Number.isSafeInteger(seen)) this.#highest = seen ?? 0;
    this.#written = this.#highest;
  }

  get highest(): number {
    return this.#highest;
  }

  /** A full disk cannot record a launch, but running runs must still be killed. */
  raise(epoch: number): void {
    if (epoch > this.#highest) {
      this.#highest = epoch;
      this.#risen.resolve();
      this.#risen = Promise.withResolvers<void>();
    }
    if (this.#highest === this.#written) return;
    try {
      writeRecord(this.#folder, names.agent, { epoch: this.#highest });
      this.#written = this.#highest;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      this.#events.diskFull(error);
    }
  }

  /** Resolves when the epoch rises, or when the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const aborted = Promise.withResolvers<void>();
    const abort = (): void => aborted.resolve();
    signal.addEventListener("abort", abort, { once: true });
    await Promise.race([this.#risen.promise, aborted.promise]);
    signal.removeEventListener("abort", abort);
  }
}
