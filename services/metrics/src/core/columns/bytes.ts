/**
 * A growing list of bytes and its reader, for varints, doubles and text, in little-endian order. The core has no
 * Buffer.
 */

export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(roomBytes = 256) {
    this.#bytes = new Uint8Array(roomBytes);
    this.#view = new DataView(this.#bytes.buffer);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  /** Writes a whole number from 0 to 2^53 - 1, seven bits a byte. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length] = (rest % 0x80) | 0x80;
      this.#length += 1;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length] = rest;
    this.#length += 1;
  }

  /** Writes a whole number of magnitude up to 2^52. */
  signed(value: number): void {
    this.varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  float64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  float64s(values: ArrayLike<number>): void {
    this.#reserve(8 * values.length);
    for (let i = 0; i < values.length; i += 1) {
      this.#view.setFloat64(this.#length + 8 * i, values[i] ?? Number.NaN, true);
    }
    this.#length += 8 * values.length;
  }

  float32s(values: ArrayLike<number>): void {
    this.#reserve(4 * values.length);
    for (let i = 0; i < values.length; i += 1) {
      this.#view.setFloat32(this.#length + 4 * i, values[i] ?? Number.NaN, true);
    }
    this.#length += 4 * values.length;
  }

  /** Writes one varint for each UTF-16 unit: one byte for each ASCII character. Every string is read back unchanged. */
  text(value: string): void {
    this.varint(value.length);
    this.#reserve(value.length);
    for (let i = 0; i < value.length; i += 1) {
      const unit = value.charCodeAt(i);
      if (unit < 0x80) this.byte(unit);
      else this.varint(unit);
    }
  }

  /** Writes the number of bytes of `write` in four bytes, then those bytes. */
  sized(write: () => void): void {
    this.#reserve(4);
    const start = this.#length;
    this.#length += 4;
    write();
    this.#view.setUint32(start, this.#length - start - 4, true);
  }

  done(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(this.#bytes.length * 2 + more);
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** Reads the bytes of a ByteWriter. Throws a RangeError beyond the end. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  byte(): number {
    const value = this.#bytes[this.#offset];
    if (value === undefined) throw new RangeError("bytes end too early");
    this.#offset += 1;
    return value;
  }

  varint(): number {
    let value = this.byte();
    if (value < 0x80) return value;
    const second = this.byte();
    value = (value & 0x7f) | ((second & 0x7f) << 7);
    if (second < 0x80) return value;
    for (let scale = 0x4000; ; scale *= 0x80) {
      const next = this.byte();
      value += (next & 0x7f) * scale;
      if (next < 0x80) return value;
    }
  }

  signed(): number {
    const value = this.varint();
    // Bit shifts take a tenth of the time of dividing doubles.
    if (value <= 0x3fff_ffff) return (value & 1) === 0 ? value >> 1 : -((value + 1) >> 1);
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  float64(): number {
    const value = this.#view.getFloat64(this.#offset, true);
    this.#offset += 8;
    return value;
  }

  /** Fills the whole list with numbers. */
  float64s(into: Float64Array): void {
    const start = this.#offset;
    for (let i = 0; i < into.length; i += 1) into[i] = this.#view.getFloat64(start + 8 * i, true);
    this.#offset = start + 8 * into.length;
  }

  float32s(into: Float64Array): void {
    const start = this.#offset;
    for (let i = 0; i < into.length; i += 1) into[i] = this.#view.getFloat32(start + 4 * i, true);
    this.#offset = start + 4 * into.length;
  }

  skip(bytes: number): void {
    this.#offset += bytes;
  }

  text(): string {
    const length = this.varint();
    if (length > this.#bytes.length)
      throw new RangeError("text is longer than its remaining bytes");
    let text = "";
    // Runs of ASCII are read at once; a unit after a run is a varint of several bytes.
    for (let left = length; left > 0; ) {
      const run = this.#asciiRun(Math.min(left, 4_096));
      // `apply` accepts a typed array as its arguments; spreading one is ten times slower.
      text += String.fromCharCode.apply(null, run as unknown as number[]);
      left -= run.length;
      if (left > 0 && run.length < 4_096) {
        text += String.fromCharCode(this.varint());
        left -= 1;
      }
    }
    return text;
  }

  /** Reads the bytes of `sized`: a view of the source, not a copy. */
  sized(): Uint8Array {
    const length = this.#view.getUint32(this.#offset, true);
    const start = this.#offset + 4;
    if (start + length > this.#bytes.length) throw new RangeError("bytes end too early");
    this.#offset = start + length;
    return this.#bytes.subarray(start, this.#offset);
  }

  #asciiRun(most: number): Uint8Array {
    const start = this.#offset;
    const end = Math.min(start + most, this.#bytes.length);
    let at = start;
    while (at < end && (this.#bytes[at] ?? 0x80) < 0x80) at += 1;
    this.#offset = at;
    return this.#bytes.subarray(start, at);
  }
}
