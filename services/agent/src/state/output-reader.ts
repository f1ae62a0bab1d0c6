/** Reads a run's lines in order, from the end of the acknowledged lines (see layout.ts). */
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDiskFull, names, readRecord, type ShippedRecord, writeRecord } from "./layout.ts";
import { LineRanks } from "../core/line-ranks.ts";
import { type OutputSource, segmentName, segmentsOf } from "./output-writer.ts";

export type StoredLine = {
  readonly sequence: number;
  readonly source: OutputSource;
  readonly atMs: number;
  readonly text: string;
  readonly continued: boolean;
  /** The rank of the process, if its launcher writes one. */
  readonly rank?: number;
};

/** A line of 16 KiB becomes at most six times as long when every byte is escaped. */
const chunkBytes = 256 * 1024;

export type BatchLimits = {
  readonly lines: number;
  readonly bytes: number;
  readonly lineOverheadBytes: number;
};

export type Batch = {
  readonly lines: readonly StoredLine[];
  readonly end: ShippedRecord;
  readonly ranks: LineRanks;
};

export class OutputReader {
  readonly #folder: string;
  readonly #output: string;
  #at: ShippedRecord;
  /**
   * The ranks of the lines up to `#at`. A reader that begins inside a long line does not know the rank of the line's
   * other parts.
   */
  #ranks = new LineRanks();

  constructor(runFolder: string) {
    this.#folder = runFolder;
    this.#output = join(runFolder, names.output);
    this.#at = readRecord(runFolder, names.shipped) ?? { segment: 1, offset: 0, sequence: 0 };
  }

  /** Returns the next complete lines; empty if none. Repeats the same lines until `acknowledge`. */
  read(limits: BatchLimits): Batch {
    for (;;) {
      const batch = this.#readSegment(limits);
      if (batch.lines.length > 0) return batch;
      const next = this.#following();
      // Lines may have been appended to this file after the last read and before the next file was begun.
      if (next === null) return batch;
      const again = this.#readSegment(limits);
      if (again.lines.length > 0) return again;
      this.#at = { ...this.#at, segment: next, offset: 0 };
    }
  }

  acknowledge({ end, ranks }: Batch): void {
    this.#at = end;
    this.#ranks = ranks;
    try {
      writeRecord(this.#folder, names.shipped, end);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      // The next reader has to find these lines again; sending them twice is harmless.
      return;
    }
    for (const first of this.#segments()) {
      if (first < end.segment) rmSync(join(this.#output, segmentName(first)), { force: true });
    }
  }

  #segments(): readonly number[] {
    return existsSync(this.#output) ? segmentsOf(this.#output) : [];
  }

  #following(): number | null {
    return this.#segments().find((first) => first > this.#at.segment) ?? null;
  }

  #readSegment(limits: BatchLimits): Batch {
    const { segment, offset, sequence } = this.#at;
    const chunk = readChunk(join(this.#output, segmentName(segment)), offset);
    const lines: StoredLine[] = [];
    const ranks = this.#ranks.copy();
    let used = 0;
    let bytes = 0;
    while (lines.length < limits.lines) {
      const end = chunk.indexOf(10, used);
      if (end < 0) break;
      bytes += end - used + limits.lineOverheadBytes;
      if (lines.length > 0 && bytes > limits.bytes) break;
      const line = lineOf(chunk.toString("utf8", used, end), sequence + lines.length + 1);
      const rank = ranks.next(line);
      lines.push(rank === null ? line : { ...line, rank });
      used = end + 1;
    }
    const end = { segment, offset: offset + used, sequence: sequence + lines.length };
    return { lines, end, ranks };
  }
}

function lineOf(json: string, sequence: number): StoredLine {
  const [source, atMs, text, continued] = JSON.parse(json) as [OutputSource, number, string, 1?];
  return { sequence, source, atMs, text, continued: continued === 1 };
}

function readChunk(path: string, offset: number): Buffer {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
  try {
    const size = Math.min(chunkBytes, Math.max(0, fstatSync(file).size - offset));
    const chunk = Buffer.allocUnsafe(size);
    return chunk.subarray(0, readSync(file, chunk, 0, size, offset));
  } finally {
    closeSync(file);
  }
}
