/**
 * Appends a run's lines to files of a bounded size (see layout.ts). One writer at a time: the supervisor while it
 * lives, the agent before it was started and after it was killed. A write never throws into the run: what the disk does
 * not take, or what nobody fetched beyond a gibibyte, is dropped and counted, and a line says how much once there is
 * room.
 */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Clock } from "@trainyard/kernel";
import { makeFolder } from "./layout.ts";

export const outputSource = { stdout: 1, stderr: 2, agent: 3 } as const;
export type OutputSource = (typeof outputSource)[keyof typeof outputSource];

export type OutputLine = {
  readonly source: OutputSource;
  readonly atMs: number;
  readonly text: string;
  readonly continued: boolean;
};

const segmentBytes = 16 * 1024 * 1024;
const unshippedBytesMax = 1024 * 1024 * 1024;
const droppedCheckMs = 1_000;

export function segmentName(first: number): string {
  return `${String(first).padStart(12, "0")}.ndjson`;
}

/** The first line numbers of the files that are there, rising. */
export function segmentsOf(folder: string): readonly number[] {
  return readdirSync(folder)
    .filter((name) => /^[0-9]{12}\.ndjson$/.test(name))
    .map((name) => Number(name.slice(0, 12)))
    .toSorted((a, b) => a - b);
}

export class OutputWriter {
  readonly #folder: string;
  readonly #clock: Clock;
  #file: number;
  #bytes: number;
  #next: number;
  #dropped = 0;
  #lookAgainMs = 0;

  constructor(folder: string, clock: Clock) {
    this.#clock = clock;
    this.#folder = makeFolder(folder);
    const first = segmentsOf(folder).at(-1) ?? 1;
    const path = join(folder, segmentName(first));
    this.#file = openSync(path, "a", 0o600);
    const content = readFileSync(path);
    // A torn last line is of a writer that was killed inside its write.
    this.#bytes = content.lastIndexOf(10) + 1;
    if (this.#bytes < content.length) ftruncateSync(this.#file, this.#bytes);
    this.#next = first + countLines(content);
  }

  write(lines: readonly OutputLine[]): void {
    if (lines.length === 0) return;
    if (!this.#mayWrite()) {
      this.#dropped += lines.length;
      return;
    }
    if (this.#dropped > 0) {
      const text = `${this.#dropped} lines were not kept here: the disk was full, or nobody fetched them`;
      const gap = { source: outputSource.agent, atMs: this.#clock.nowMs(), text, continued: false };
      if (this.#append([gap])) this.#dropped = 0;
    }
    if (!this.#append(lines)) this.#dropped += lines.length;
  }

  /** Bytes of the files that are here: what is not delivered, and less than one file beside it. */
  keptBytes(): number {
    return segmentsOf(this.#folder).reduce((sum, first) => {
      const path = join(this.#folder, segmentName(first));
      // The agent removes files meanwhile.
      return sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    }, 0);
  }

  close(): void {
    closeSync(this.#file);
  }

  #append(lines: readonly OutputLine[]): boolean {
    const text = lines
      .map(({ source, atMs, text, continued }) =>
        JSON.stringify(continued ? [source, atMs, text, 1] : [source, atMs, text]),
      )
      .join("\n");
    const bytes = Buffer.from(`${text}\n`);
    try {
      this.#rotate();
      let written = 0;
      while (written < bytes.length) written += writeSync(this.#file, bytes, written);
    } catch {
      // Counted by the caller; half a line must not stay.
      this.#cutBack();
      return false;
    }
    this.#bytes += bytes.length;
    this.#next += lines.length;
    return true;
  }

  #cutBack(): void {
    try {
      if (fstatSync(this.#file).size > this.#bytes) ftruncateSync(this.#file, this.#bytes);
    } catch {
      // The same disk; the next writer or the reader skips what is torn.
    }
  }

  #rotate(): void {
    if (this.#bytes < segmentBytes) return;
    const file = openSync(join(this.#folder, segmentName(this.#next)), "a", 0o600);
    closeSync(this.#file);
    this.#file = file;
    this.#bytes = 0;
  }

  /** The total is looked at where a new file begins, and once a second while lines are dropped. */
  #mayWrite(): boolean {
    if (this.#dropped === 0 && this.#bytes < segmentBytes) return true;
    const nowMs = this.#clock.monotonicMs();
    if (this.#dropped > 0 && nowMs < this.#lookAgainMs) return false;
    this.#lookAgainMs = nowMs + droppedCheckMs;
    return this.keptBytes() < unshippedBytesMax;
  }
}

function countLines(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) lines += 1;
  return lines;
}
