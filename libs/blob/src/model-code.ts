/**
 * The rules for packed model code: a gzip-compressed tar of files, folders, and links that stay inside it. The gateway
 * refuses anything else before it stores the code. The agent checks again before it unpacks a byte, because a malicious
 * archive could do harm there.
 */
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { Parser, type ReadEntry } from "tar";

export const modelCodeLimits = {
  /** Training code has thousands of files at most; more files mean that a dataset or an environment was packed too. */
  entriesMax: 100_000,
  /** The maximum unpacked size of the files: a small archive must not fill an agent's disk. */
  unpackedBytesMax: 2 * 1024 * 1024 * 1024,
  /**
   * The maximum size of all headers: `entriesMax` entries have about 2 KiB each, with the extended headers of long
   * names.
   */
  headerBytesMax: 256 * 1024 * 1024,
} as const;

/** Bytes unpacked at once: bounds the memory and the time that each piece blocks the event loop. */
const pieceBytes = 64 * 1024;

/** Packers fill up the last record with zeros; the largest records that tar(1) makes have this size. */
const paddingBytesMax = 1024 * 1024;

const advice = "name what the training does not need in .trainyardignore";
const tooLarge = `it unpacks to more than 2 GiB; ${advice}`;

/** The first bytes of gzip and Zstandard files (RFC 1952, RFC 8878); the tar parser recognizes them. */
const magics = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])];
const magicBytesMax = 4;

/**
 * Checks packed code piece by piece, without blocking the event loop, and stops at the first byte that breaks a rule.
 * Returns the reason as a clause to follow the archive's name; null for valid code. Calls `onEntry` with the path and
 * the type of each entry that breaks no rule.
 */
export async function refusalOfModelCode(
  packed: Readable,
  onEntry: OnEntry = () => {},
): Promise<string | null> {
  const look = new Look(onEntry);
  try {
    await pipeline(packed, createGunzip({ chunkSize: pieceBytes }), (unpacked) =>
      look.at(unpacked as AsyncIterable<Buffer>),
    );
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.message;
    // A failing disk or system is not the archive's fault.
    if (error instanceof Error && "syscall" in error) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    return `it is not a readable gzip-compressed tar (${detail})`;
  }
}

type OnEntry = (path: string, type: string) => void;

/** Stops the reading; the message is the reason. */
class Refused extends Error {
  override readonly name = "Refused";
}

/** Counts the entries and bytes of an archive while it is read, and applies the rules. */
class Look {
  readonly #parser: Parser;
  readonly #onEntry: OnEntry;
  #entries = 0;
  /** The total file size that the headers declare; each header comes before its file's first byte. */
  #promisedBytes = 0;
  #unpackedBytes = 0;
  /** Bytes after the two empty blocks that end an archive; null before these blocks. */
  #bytesAfterEnd: number | null = null;
  #problem: Error | null = null;

  constructor(onEntry: OnEntry) {
    this.#onEntry = onEntry;
    this.#parser = new Parser({ strict: true, onReadEntry: (entry) => this.#enter(entry) });
    this.#parser.on("error", (error: Error) => this.#stop(error));
    this.#parser.on("eof", () => {
      this.#bytesAfterEnd = 0;
    });
    // The parser skips headers that are too large to keep, whatever they contain.
    this.#parser.on("ignoredEntry", () => {
      this.#stop(new Refused("one of its headers has more than 1 MiB"));
    });
  }

  async at(unpacked: AsyncIterable<Buffer>): Promise<void> {
    let first: Buffer | null = Buffer.alloc(0);
    for await (const piece of unpacked) {
      this.#unpackedBytes += piece.length;
      if (this.#unpackedBytes - this.#promisedBytes > modelCodeLimits.headerBytesMax) {
        throw new Refused("its headers have more than 256 MiB");
      }
      if (first === null) {
        this.#parse(piece);
        continue;
      }
      first = Buffer.concat([first, piece]);
      if (first.length < magicBytesMax) continue;
      // The parser would unpack the inner archive at once, in unbounded memory.
      if (magics.some((magic) => first?.subarray(0, magic.length).equals(magic))) {
        throw new Refused("it is compressed twice");
      }
      this.#parse(first);
      first = null;
    }
    if (first !== null) this.#parse(first);
    this.#parser.end();
    if (this.#problem !== null) throw this.#problem;
  }

  #parse(piece: Buffer): void {
    if (this.#bytesAfterEnd !== null) {
      // The parser would keep all bytes after the archive's end in memory.
      this.#bytesAfterEnd += piece.length;
      if (this.#bytesAfterEnd > paddingBytesMax) throw new Refused("it has data after its end");
      return;
    }
    this.#parser.write(piece);
    if (this.#problem !== null) throw this.#problem;
  }

  #enter(entry: ReadEntry): void {
    this.#entries += 1;
    this.#promisedBytes += entry.size;
    const refusal = refusalOf(entry) ?? refusalOfSize(this.#entries, this.#promisedBytes);
    if (refusal !== null) this.#stop(new Refused(refusal));
    else this.#onEntry(entry.path, entry.type);
    entry.resume();
  }

  /** Only the first problem is reported. */
  #stop(problem: Error): void {
    this.#problem ??= problem;
  }
}

type Entry = {
  readonly path: string;
  readonly type: string;
  readonly linkpath?: string | undefined;
};

function refusalOfSize(entries: number, bytes: number): string | null {
  const { entriesMax, unpackedBytesMax } = modelCodeLimits;
  if (entries > entriesMax) return `it has more than ${entriesMax} entries; ${advice}`;
  return bytes > unpackedBytesMax ? tooLarge : null;
}

function refusalOf(entry: Entry): string | null {
  if (escapes(entry.path)) return `${JSON.stringify(entry.path)} leads out of it`;
  const link = entry.type === "SymbolicLink" || entry.type === "Link";
  if (link && (escapes(targetOf(entry)) || goesBack(entry.linkpath ?? ""))) {
    return `the link ${JSON.stringify(entry.path)} leads out of it; a line in .trainyardignore leaves it out`;
  }
  if (!link && !["File", "OldFile", "Directory"].includes(entry.type)) {
    return `${JSON.stringify(entry.path)} is neither a file, a folder nor a link`;
  }
  return null;
}

/**
 * Returns the target of a link, relative to the archive's root. The target of a hard link is relative to the root
 * already.
 */
function targetOf({ path, type, linkpath = "" }: Entry): string {
  if (type === "Link" || linkpath.startsWith("/")) return linkpath;
  return [...path.split("/").slice(0, -1), linkpath].join("/");
}

/** Finds ".." after a folder name: if the folder is itself a link, the names do not show where the path leads. */
function goesBack(linkpath: string): boolean {
  const parts = linkpath.split("/").filter((part) => part !== "" && part !== ".");
  const first = parts.findIndex((part) => part !== "..");
  return first >= 0 && parts.includes("..", first);
}

function escapes(path: string): boolean {
  if (path.startsWith("/") || path.includes("\0")) return true;
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
