/**
 * Arrays as query parameters. Text arrays use PostgreSQL's binary format: in the text format each quote of a JSON body
 * would be escaped by this process and parsed by the server. Numbers and UUIDs need no escaping and are sent as text.
 */

const textOid = 25;
const headerBytes = 20;

/** Encodes a one-dimensional text[]; null elements are allowed. */
export function textArray(values: readonly (string | null)[]): Buffer {
  let bytes = headerBytes;
  let nulls = 0;
  for (const value of values) {
    bytes += 4;
    if (value === null) nulls = 1;
    else bytes += Buffer.byteLength(value);
  }
  const buffer = Buffer.allocUnsafe(values.length === 0 ? 12 : bytes);
  buffer.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  buffer.writeInt32BE(nulls, 4);
  buffer.writeInt32BE(textOid, 8);
  if (values.length === 0) return buffer;
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16);
  let offset = headerBytes;
  for (const value of values) {
    if (value === null) {
      buffer.writeInt32BE(-1, offset);
      offset += 4;
      continue;
    }
    const written = buffer.write(value, offset + 4);
    buffer.writeInt32BE(written, offset);
    offset += 4 + written;
  }
  return buffer;
}

/** Encodes integer[], bigint[] or uuid[]. */
export function plainArray(values: readonly (number | string | null)[]): string {
  let text = "{";
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ",";
    text += values[index] ?? "NULL";
  }
  return `${text}}`;
}
