/**
 * The encoding `aws-chunked`: each chunk has its size in hex, an optional `;chunk-signature=…`, its bytes and a line
 * break; an empty chunk ends the content, and lines of trailers follow. A chunk's signature covers the previous
 * signature, the first one the request's; the trailers have a separate signature. Source: "Signature Calculations for
 * the Authorization Header: Transferring Payload in Multiple Chunks" and its twin on trailing headers in the API
 * reference of Amazon S3.
 */
import { createHash } from "node:crypto";
import { S3Error } from "./errors.ts";
import { hmac, sameHex, sha256Hex } from "./signature.ts";

export type ChunkSigning = {
  readonly key: Buffer;
  readonly at: string;
  readonly scope: string;
  /** The signature of the request. */
  readonly seed: string;
};

export type Trailers = Readonly<Record<string, string>>;

const lineCharactersMax = 4_096;
const signedChunkBytesMin = 8_192;

/** Reads lines and counted bytes from a stream. */
class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async #more(): Promise<void> {
    const next = await this.#source.next();
    if (next.done === true) {
      throw new S3Error(400, "IncompleteBody", "The content ends within a chunk.");
    }
    this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
  }

  /** Returns the next line without its line break. */
  async line(): Promise<string> {
    for (;;) {
      const end = Buffer.from(this.#rest.buffer, this.#rest.byteOffset, this.#rest.length).indexOf(
        "\r\n",
      );
      if (end !== -1) {
        const line = Buffer.from(this.#rest.subarray(0, end)).toString("latin1");
        this.#rest = this.#rest.subarray(end + 2);
        return line;
      }
      if (this.#rest.length > lineCharactersMax) throw incorrectEncoding();
      await this.#more();
    }
  }

  async *take(bytes: number): AsyncGenerator<Uint8Array> {
    let left = bytes;
    while (left > 0) {
      if (this.#rest.length === 0) await this.#more();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
}

const incorrectEncoding = (): S3Error =>
  new S3Error(400, "InvalidRequest", "The body is not encoded as aws-chunked.");

const mismatch = (): S3Error =>
  new S3Error(403, "SignatureDoesNotMatch", "The signature of a chunk does not match.");

export class ChunkedBody {
  readonly #reader: ByteReader;
  readonly #signing: ChunkSigning | null;
  #previous: string;
  #trailers: Trailers = {};
  #smallChunkSeen = false;

  /** Without `signing` the chunks are unsigned (STREAMING-UNSIGNED-PAYLOAD-TRAILER). */
  constructor(source: AsyncIterable<Uint8Array>, signing: ChunkSigning | null) {
    this.#reader = new ByteReader(source);
    this.#signing = signing;
    this.#previous = signing?.seed ?? "";
  }

  /** The trailers are known when the content was read to its end. */
  get trailers(): Trailers {
    return this.#trailers;
  }

  async *content(hasTrailers: boolean): AsyncGenerator<Uint8Array> {
    for (;;) {
      const [size = "", signature = ""] = (await this.#reader.line()).split(";chunk-signature=");
      if (!/^[0-9a-fA-F]{1,8}$/.test(size)) throw incorrectEncoding();
      const bytes = parseInt(size, 16);
      if (bytes > 0) this.#checkSize(bytes);
      const digest = createHash("sha256");
      for await (const piece of this.#reader.take(bytes)) {
        if (this.#signing !== null) digest.update(piece);
        yield piece;
      }
      this.#checkChunk(signature, digest.digest("hex"));
      if (bytes === 0) break;
      if ((await this.#reader.line()) !== "") throw incorrectEncoding();
    }
    if (hasTrailers) await this.#readTrailers();
    else if ((await this.#reader.line()) !== "") throw incorrectEncoding();
  }

  #checkSize(bytes: number): void {
    if (this.#signing === null) return;
    if (this.#smallChunkSeen) {
      throw new S3Error(403, "InvalidChunkSizeError", "Only the last chunk may be below 8 KB.");
    }
    this.#smallChunkSeen = bytes < signedChunkBytesMin;
  }

  #checkChunk(signature: string, digest: string): void {
    if (this.#signing === null) return;
    this.#checkText(signature, "AWS4-HMAC-SHA256-PAYLOAD", [sha256Hex(""), digest]);
  }

  #checkText(signature: string, kind: string, digests: readonly string[]): void {
    if (this.#signing === null) return;
    const { key, at, scope } = this.#signing;
    const text = [kind, at, scope, this.#previous, ...digests].join("\n");
    const expected = hmac(key, text).toString("hex");
    if (!sameHex(expected, signature)) throw mismatch();
    this.#previous = expected;
  }

  async #readTrailers(): Promise<void> {
    const trailers: [string, string][] = [];
    for (let line = await this.#reader.line(); line !== ""; line = await this.#reader.line()) {
      const [name = "", value = ""] = line.split(/:(.*)/s);
      trailers.push([name.trim().toLowerCase(), value.trim()]);
    }
    const signed = trailers.filter(([name]) => name !== "x-amz-trailer-signature");
    this.#trailers = Object.fromEntries(signed);
    if (this.#signing === null) return;
    const signature = trailers.find(([name]) => name === "x-amz-trailer-signature")?.[1] ?? "";
    const text = signed.map(([name, value]) => `${name}:${value}\n`).join("");
    this.#checkText(signature, "AWS4-HMAC-SHA256-TRAILER", [sha256Hex(text)]);
  }
}
