/**
 * Reads a run's lines in order, from the end of the acknowledged lines (see layout.ts).
 *
 * Files are not synced. After a power cut the last lines may be gone, although the record of the acknowledged lines
 * counts them, and zeros may be in their place. So the record may name a place behind the end of the file, or later one
 * inside a line: reading continues at the next line, and what cannot be read becomes one line that says so.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDiskFull, names, readRecord, type ShippedRecord, writeRecord } from "./layout.ts";
import { LineRanks } from "../core/line-ranks.ts";
import { outputSource, type OutputSource, segmentName, segmentsOf } from "./output-writer.ts";

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
    const path = join(this.#output, segmentName(this.#at.segment));
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (this.#at.offset > bytes) this.#at = { ...this.#at, offset: bytes };
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
    const { chunk, changedMs } = readChunk(join(this.#output, segmentName(segment)), offset);
    const lines: StoredLine[] = [];
    const ranks = this.#ranks.copy();
    let used = 0;
    let bytes = 0;
    const next = (text: string): StoredLine => {
      const number = sequence + lines.length + 1;
      return lineOf(text, number) ?? unread(number, lines.at(-1)?.atMs ?? changedMs);
    };
    while (lines.length < limits.lines) {
      const end = chunk.indexOf(10, used);
      if (end < 0) break;
      bytes += end - used + limits.lineOverheadBytes;
      if (lines.length > 0 && bytes > limits.bytes) break;
      const line = next(chunk.toString("utf8", used, end));
      const rank = ranks.next(line);
      lines.push(rank === null ? line : { ...line, rank });
      used = end + 1;
    }
    if (used === 0 && chunk.length === chunkBytes) {
      // No line is this long.
      lines.push(next(""));
      used = chunk.length;
    }
    const end = { segment, offset: offset + used, sequence: sequence + lines.length };
    return { lines, end, ranks };
  }
}

/** Null for a text that no writer has written whole. */
function lineOf(json: string, sequence: number): StoredLine | null {
  try {
    const [source, atMs, text, continued] = JSON.parse(json) as [OutputSource, number, string, 1?];
    const isWhole = typeof atMs === "number" && typeof text === "string";
    return isWhole ? { sequence, source, atMs, text, continued: continued === 1 } : null;
  } catch {
    return null;
  }
}

function unread(sequence: number, atMs: number): StoredLine {
  const text = "a line could not be read: its host lost it, as in a power cut";
  return { sequence, source: outputSource.agent, atMs, text, continued: false };
}

type Chunk = { readonly chunk: Buffer; readonly changedMs: number };

function readChunk(path: string, offset: number): Chunk {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return { chunk: Buffer.alloc(0), changedMs: 0 };
  }
  try {
    const status = fstatSync(file);
    const size = Math.min(chunkBytes, Math.max(0, status.size - offset));
    const chunk = Buffer.allocUnsafe(size);
    const read = chunk.subarray(0, readSync(file, chunk, 0, size, offset));
    return { chunk: read, changedMs: Math.floor(status.mtimeMs) };
  } finally {
    closeSync(file);
  }
}
