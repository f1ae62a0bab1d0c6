/**
 * The time for which agents have been up on this folder, in all their starts: an age that no wall clock can change.
 * Time without an agent does not count, since nothing could be delivered.
 */
import { names, readRecord, writeRecord } from "./layout.ts";

export class Uptime {
  readonly #folder: string;
  readonly #monotonicMs: () => number;
  readonly #beganMs: number;
  /** The uptime at this agent's start. */
  readonly atStartMs: number;

  constructor(folder: string, monotonicMs: () => number) {
    this.#folder = folder;
    this.#monotonicMs = monotonicMs;
    this.#beganMs = monotonicMs();
    this.atStartMs = readRecord<{ upMs: number }>(folder, names.uptime)?.upMs ?? 0;
  }

  get ms(): number {
    return this.atStartMs + this.#monotonicMs() - this.#beganMs;
  }

  /** A machine that crashes loses the uptime since the last save. */
  save(): void {
    writeRecord(this.#folder, names.uptime, { upMs: Math.round(this.ms) });
  }
}
