/** The content of objects and parts: files in a temporary folder of the server, or only the sizes of large content. */
import { link, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** `file` is null if content is discarded; small content is then in `kept`. */
export type Piece = {
  readonly file: string | null;
  readonly bytes: number;
  readonly kept?: Uint8Array;
};

/** Markers, probes and metadata are kept even by a server that discards content. */
const keptBytesMax = 16_384;
const zeros = new Uint8Array(65_536);

export class Bodies implements AsyncDisposable {
  readonly #folder: string | null;
  #files = 0;

  private constructor(folder: string | null) {
    this.#folder = folder;
  }

  static async kept(): Promise<Bodies> {
    return new Bodies(await mkdtemp(join(tmpdir(), "test-store-")));
  }

  /** Discards content; reads of more than 16 KiB return zeros. */
  static discarded(): Bodies {
    return new Bodies(null);
  }

  get areKept(): boolean {
    return this.#folder !== null;
  }

  #name(folder: string): string {
    this.#files += 1;
    return join(folder, String(this.#files));
  }

  /** Stores the bytes of a source; if the source throws, nothing is kept. */
  async store(source: AsyncIterable<Uint8Array>): Promise<Piece> {
    let bytes = 0;
    if (this.#folder === null) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of source) {
        bytes += chunk.length;
        if (bytes <= keptBytesMax) chunks.push(chunk);
      }
      if (bytes > keptBytesMax) return { file: null, bytes };
      return { file: null, bytes, kept: Buffer.concat(chunks) };
    }
    const name = this.#name(this.#folder);
    try {
      await using file = await open(name, "w");
      for await (const chunk of source) {
        await file.write(chunk);
        bytes += chunk.length;
      }
    } catch (error) {
      await rm(name, { force: true });
      throw error;
    }
    return { file: name, bytes };
  }

  async copyOf(pieces: readonly Piece[]): Promise<readonly Piece[]> {
    return Promise.all(
      pieces.map(async (piece) => {
        if (piece.file === null || this.#folder === null) return piece;
        const name = this.#name(this.#folder);
        await link(piece.file, name);
        return { file: name, bytes: piece.bytes };
      }),
    );
  }

  async drop(pieces: readonly Piece[]): Promise<void> {
    for (const { file } of pieces) if (file !== null) await rm(file, { force: true });
  }

  /** Reads the bytes from `from` up to, but excluding, `to`. */
  async *read(pieces: readonly Piece[], from: number, to: number): AsyncGenerator<Uint8Array> {
    let start = 0;
    for (const { file, bytes, kept } of pieces) {
      const first = Math.max(from - start, 0);
      const end = Math.min(to - start, bytes);
      start += bytes;
      if (first >= end) continue;
      if (kept !== undefined) yield kept.subarray(first, end);
      else if (file === null) yield* zerosOf(end - first);
      else yield* contentOf(file, first, end);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The file is opened at once, so that a piece that is dropped meanwhile can be read to its end. */
async function* contentOf(name: string, from: number, end: number): AsyncGenerator<Uint8Array> {
  await using file = await open(name);
  for (let at = from; at < end; ) {
    const { bytesRead, buffer } = await file.read(
      Buffer.allocUnsafe(Math.min(zeros.length * 4, end - at)),
      { position: at },
    );
    if (bytesRead === 0) throw new Error(`${name} became shorter while it was read`);
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function* zerosOf(bytes: number): Generator<Uint8Array> {
  for (let left = bytes; left > 0; left -= zeros.length) yield zeros.subarray(0, left);
}
