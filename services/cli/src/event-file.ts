/**
 * A TensorBoard event file of scalars. The format is TFRecord: each record is its length (8 bytes, little-endian), a
 * masked CRC-32C of these bytes, the data, and a masked CRC-32C of the data (RFC 3720, B.4). The data is a
 * tensorflow.Event as protobuf: wall_time = 1, step = 2, file_version = 3, summary = 5 of values with tag = 1 and
 * simple_value = 2.
 */

export type EventPoint = {
  /** The time in milliseconds since 1970. */
  readonly atMs: number;
  readonly step: number;
  /** The values by tag; TensorBoard stores them as float32. */
  readonly scalars: Readonly<Record<string, number>>;
};

export function eventFile(points: readonly EventPoint[]): Buffer {
  const startMs = points[0]?.atMs ?? 0;
  const version = Buffer.concat([wallTime(startMs), block(3, Buffer.from("brain.Event:2"))]);
  return Buffer.concat([record(version), ...points.map((point) => record(eventOf(point)))]);
}

function eventOf({ atMs, step, scalars }: EventPoint): Buffer {
  const values = Object.entries(scalars).map(([tag, value]) => {
    const simple = Buffer.alloc(5);
    simple.writeUInt8(tagOf(2, 5), 0);
    simple.writeFloatLE(value, 1);
    return block(1, Buffer.concat([block(1, Buffer.from(tag)), simple]));
  });
  const whole = Buffer.from([tagOf(2, 0), ...varint(Math.floor(step))]);
  return Buffer.concat([wallTime(atMs), whole, block(5, Buffer.concat(values))]);
}

function wallTime(atMs: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.writeUInt8(tagOf(1, 1), 0);
  bytes.writeDoubleLE(atMs / 1_000, 1);
  return bytes;
}

const tagOf = (field: number, wireType: number): number => field * 8 + wireType;

const block = (field: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([tagOf(field, 2), ...varint(content.length)]), content]);

function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return [...bytes, rest];
}

function record(data: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(data.length));
  return Buffer.concat([length, maskedCrc(length), data, maskedCrc(data)]);
}

function maskedCrc(data: Buffer): Buffer {
  const crc = crc32c(data);
  const masked = Buffer.alloc(4);
  masked.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0);
  return masked;
}

export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ ((crc & 1) === 1 ? 0x82f63b78 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
