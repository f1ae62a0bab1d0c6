/**
 * Reads and writes headers as one block of lines. The NATS client's class validates and searches all names for each
 * value, which would dominate the cost of an event's seventeen headers. Only this file depends on the client's
 * internals: the class that `publish` calls `encode` on, and the field with a message's bytes.
 */
import type { Msg, MsgHdrs } from "@nats-io/nats-core";
import { MsgHdrsImpl, MsgImpl } from "@nats-io/nats-core/internal";
import type { HeaderRecord } from "../envelope.ts";

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
export function wireHeaders(record: Readonly<HeaderRecord>): MsgHdrs {
  let block = version;
  for (const name in record) block += `${lineEnd}${name}: ${record[name]}`;
  return new WrittenHeaders(`${block}${lineEnd}${lineEnd}`);
}

/** Returns the headers of a message, each with its last value. */
export function headerRecordOf(message: Msg): HeaderRecord {
  const record: HeaderRecord = {};
  if (!(message instanceof MsgImpl) || message._msg.hdr <= 0) return record;
  const bytes = message._rdata;
  const block = Buffer.from(bytes.buffer, bytes.byteOffset, message._msg.hdr).toString("latin1");
  let start = block.indexOf(lineEnd) + lineEnd.length;
  for (;;) {
    const end = block.indexOf(lineEnd, start);
    if (end <= start) return record;
    const colon = block.indexOf(":", start);
    if (colon > start && colon < end) {
      record[block.slice(start, colon)] = block.slice(colon + 1, end).trim();
    }
    start = end + lineEnd.length;
  }
}
