/**
 * Reads and writes headers as one block of lines. The NATS client's class validates and searches all names for each
 * value, which would dominate the cost of an event's seventeen headers. Only this file depends on the client's
 * internals: the class that `publish` calls `encode` on, and the field with a message's bytes.
 */
import type { Msg, MsgHdrs } from "@nats-io/nats-core";
import { MsgHdrsImpl, MsgImpl } from "@nats-io/nats-core/internal";
import type { HeaderMap } from "../envelope.ts";

const version = "NATS/1.0";
const lineEnd = "\r\n";

class WrittenHeaders extends MsgHdrsImpl {
  readonly #block: string;

  constructor(block: string) {
    super();
    this.#block = block;
  }

  override encode(): Uint8Array {
    return Buffer.from(this.#block, "latin1");
  }
}

/** Builds headers. The values must be printable ASCII, like those of `encodeHeaderValue`. */
export function wireHeaders(headers: Iterable<readonly [name: string, value: string]>): MsgHdrs {
  let block = version;
  for (const [name, value] of headers) block += `${lineEnd}${name}: ${value}`;
  return new WrittenHeaders(`${block}${lineEnd}${lineEnd}`);
}

/** Returns the headers of a message, each with its last value. */
export function headersOfMessage(message: Msg): HeaderMap {
  const headers: HeaderMap = new Map();
  if (!(message instanceof MsgImpl) || message._msg.hdr <= 0) return headers;
  const bytes = message._rdata;
  const block = Buffer.from(bytes.buffer, bytes.byteOffset, message._msg.hdr).toString("latin1");
  let start = block.indexOf(lineEnd) + lineEnd.length;
  for (;;) {
    const end = block.indexOf(lineEnd, start);
    if (end <= start) return headers;
    const colon = block.indexOf(":", start);
    if (colon > start && colon < end) {
      headers.set(block.slice(start, colon), block.slice(colon + 1, end).trim());
    }
    start = end + lineEnd.length;
  }
}
