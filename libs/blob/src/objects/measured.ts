/** The digests of content that passes through as a stream. */
import { createHash, type Hash } from "node:crypto";
import type { FileDigests } from "./port.ts";

export class Measured {
  readonly #partBytes: number;
  readonly #whole = createHash("sha256");
  readonly #md5 = createHash("md5");
  readonly #parts: string[] = [];
  #part: Hash = createHash("sha256");
  #partLeft: number;
  #bytes = 0;

  constructor(partBytes: number) {
    this.#partBytes = partBytes;
    this.#partLeft = partBytes;
  }

  /** Passes the content on, unchanged. */
  async *through(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      this.add(chunk);
      yield chunk;
    }
  }

  /** Returns the digests of all that has passed. */
  digests(): FileDigests {
    const last = this.#part.copy().digest("hex");
    const hasLast = this.#partLeft < this.#partBytes || this.#parts.length === 0;
    const parts = hasLast ? [...this.#parts, last] : this.#parts;
    return {
      bytes: this.#bytes,
      sha256: this.#whole.copy().digest("hex"),
      parts: parts.map((sha256) => ({ sha256 })),
      md5: this.#md5.copy().digest("base64"),
      // The stores that keep a CRC-32C of whole objects keep their MD5, too.
      crc32c: "",
    };
  }

  add(chunk: Uint8Array): void {
    this.#whole.update(chunk);
    this.#md5.update(chunk);
    this.#bytes += chunk.byteLength;
    for (let rest = chunk; rest.byteLength > 0; ) {
      const piece = rest.subarray(0, this.#partLeft);
      this.#part.update(piece);
      this.#partLeft -= piece.byteLength;
      rest = rest.subarray(piece.byteLength);
      if (this.#partLeft === 0) this.#nextPart();
    }
  }

  #nextPart(): void {
    this.#parts.push(this.#part.digest("hex"));
    this.#part = createHash("sha256");
    this.#partLeft = this.#partBytes;
  }
}
