/**
 * Limits the rate at which a run's output is read from its pipes. A process that writes faster than the logs service
 * stores fills the agent's disk up to a limit, beyond which lines are lost. Long before that its pipes are read at a
 * bounded rate, so that the process blocks in its writes and loses nothing; lines in its log report this. An outage of
 * the logs service for hours throttles only a run that prints this much. files.py implements the same for runs that it
 * supervises.
 */
import type { Clock } from "@trainyard/kernel";
import { type OutputWriter, outputSource } from "./output-writer.ts";

/**
 * The size of undelivered output at which a run is throttled, until half of it is delivered. A usual training takes
 * hours to print this.
 */
export const throttledBytes = 128 * 1024 * 1024;
/**
 * The rate for each pipe: some 3,000 lines a second, which the logs service can store. Lines are lost only after an
 * hour at this rate.
 */
export const throttledBytesPerSecond = 256 * 1024;
const lookMs = 1_000;

export class OutputThrottle {
  readonly #output: OutputWriter;
  readonly #clock: Clock;
  #sinceMs: number | null = null;
  #lines = 0;
  #lookAgainMs = 0;
  #isOver = false;

  constructor(output: OutputWriter, clock: Clock) {
    this.#output = output;
    this.#clock = clock;
  }

  /** Returns the pause after some bytes, during which the pipe is not read. */
  pauseMs(bytes: number, lines: number): number {
    if (this.#isOver) return 0;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#lookAgainMs) {
      this.#lookAgainMs = nowMs + lookMs;
      this.#look(nowMs);
    }
    if (this.#sinceMs === null) return 0;
    this.#lines += lines;
    return (bytes / throttledBytesPerSecond) * 1_000;
  }

  /** Called when the run has ended: the rest is read without pauses. */
  end(): void {
    this.#isOver = true;
    this.#sayHowLong(this.#clock.monotonicMs(), "");
  }

  #look(nowMs: number): void {
    const bytes = this.#output.keptBytes();
    if (this.#sinceMs === null && bytes > throttledBytes) {
      this.#sinceMs = nowMs;
      this.#lines = 0;
      this.#say(
        `throttled: ${mebibytes(bytes)} MiB of this run's output wait for the logs service, so the run's pipes are read at ${throttledBytesPerSecond / 1024} KiB/s`,
      );
    } else if (bytes < throttledBytes / 2) this.#sayHowLong(nowMs, ", and is not any more");
  }

  #sayHowLong(nowMs: number, rest: string): void {
    if (this.#sinceMs === null) return;
    const seconds = Math.round((nowMs - this.#sinceMs) / 1_000);
    this.#sinceMs = null;
    this.#say(`this run's output was throttled for ${seconds} s, ${this.#lines} lines${rest}`);
  }

  #say(text: string): void {
    const atMs = this.#clock.nowMs();
    this.#output.write([{ source: outputSource.agent, atMs, text, continued: false }]);
  }
}

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);
