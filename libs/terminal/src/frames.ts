/**
 * The frames of the protocol to a task's holder, on a stream of bytes: one byte with the type, four with the length of
 * the payload (big endian), then the payload (docs/integrate/terminals.md). Chunks of the stream may begin and end
 * anywhere. This module needs nothing of Node, so that pages use it too.
 */
import { Fault } from "@trainyard/kernel";
import { frameBytesMax } from "./limits.ts";

export type Frame = { readonly type: number; readonly payload: Uint8Array<ArrayBuffer> };

const headerBytes = 5;

export function encodeFrame(type: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  if (payload.length > frameBytesMax) throw tooLong(payload.length);
  const frame = new Uint8Array(headerBytes + payload.length);
  frame[0] = type;
  new DataView(frame.buffer).setUint32(1, payload.length);
  frame.set(payload, headerBytes);
  return frame;
}

/** Makes frames of the chunks of a stream. */
export class FrameDecoder {
  readonly #header = new Uint8Array(headerBytes);
  #headerLength = 0;
  #payload: Uint8Array<ArrayBuffer> | null = null;
  #payloadLength = 0;

  /** Returns the frames that the chunk completes. Throws a Fault for a frame that is too long. */
  push(chunk: Uint8Array): readonly Frame[] {
    const frames: Frame[] = [];
    for (let at = 0; at < chunk.length; ) {
      at += this.#payload === null ? this.#readHeader(chunk.subarray(at)) : this.#read(chunk, at);
      if (this.#payload?.length === this.#payloadLength) frames.push(this.#take(this.#payload));
    }
    return frames;
  }

  /** True between two frames: a stream that ends elsewhere was cut. */
  get isBetweenFrames(): boolean {
    return this.#headerLength === 0;
  }

  /** Returns the number of bytes that it has read. */
  #readHeader(rest: Uint8Array): number {
    const part = rest.subarray(0, headerBytes - this.#headerLength);
    this.#header.set(part, this.#headerLength);
    this.#headerLength += part.length;
    if (this.#headerLength === headerBytes) {
      const length = new DataView(this.#header.buffer).getUint32(1);
      if (length > frameBytesMax) throw tooLong(length);
      this.#payload = new Uint8Array(length);
      this.#payloadLength = 0;
    }
    return part.length;
  }

  #read(chunk: Uint8Array, at: number): number {
    const payload = this.#payload as Uint8Array;
    const part = chunk.subarray(at, at + payload.length - this.#payloadLength);
    payload.set(part, this.#payloadLength);
    this.#payloadLength += part.length;
    return part.length;
  }

  #take(payload: Uint8Array<ArrayBuffer>): Frame {
    this.#headerLength = 0;
    this.#payload = null;
    return { type: this.#header[0] ?? 0, payload };
  }
}

function tooLong(length: number): Fault {
  return new Fault(
    "frame_too_long",
    `a frame of the terminal protocol has ${length} bytes, and may have ${frameBytesMax}`,
    { retry: "never" },
  );
}
