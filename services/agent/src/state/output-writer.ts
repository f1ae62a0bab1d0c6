/**
 * Appends a run's lines to files of a bounded size (see layout.ts). It has one writer at a time: the supervisor while
 * it lives, the agent before and after. A write never fails the run: lines are dropped and counted when the disk is
 * full, or when a gibibyte is undelivered; a line reports the number once lines can be written again.
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

/** The first line numbers of the existing files, in ascending order. */
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
    // A torn last line is left by a writer that was killed during its write.
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

  /** The bytes of all files: the undelivered lines, and less than one file of delivered ones. */
  keptBytes(): number {
    return segmentsOf(this.#folder).reduce((sum, first) => {
      const path = join(this.#folder, segmentName(first));
      // The agent may remove files at the same time.
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
      // The caller counts the line; half a line must not stay.
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
      // Cutting may fail on the same full disk; the next writer or the reader skips a torn line.
    }
  }

  #rotate(): void {
    if (this.#bytes < segmentBytes) return;
    const file = openSync(join(this.#folder, segmentName(this.#next)), "a", 0o600);
    closeSync(this.#file);
    this.#file = file;
    this.#bytes = 0;
  }

  /** The total size is checked when a new file begins, and once a second while lines are dropped. */
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
