/**
 * How long agents have been up on this folder, all their starts together: an age that no wall clock can make up or take
 * back. What passed while none was up does not count: nobody could have delivered anything then.
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

  /** A machine that dies without it loses the time since the last write. */
  save(): void {
    writeRecord(this.#folder, names.uptime, { upMs: Math.round(this.ms) });
  }
}
