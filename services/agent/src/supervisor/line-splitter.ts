/**
 * Cuts a stream of bytes into lines: at \n, \r\n and \r (progress bars rewrite their line), and every 16 KiB. An empty
 * piece before a lone \r is not a line. A piece before a \r at the end of a chunk is held, since a \n may follow. Bytes
 * that are not UTF-8, and NUL, which databases refuse, become U+FFFD.
 */
const lineBytesMax = 16 * 1024;
const newline = 10;
const carriageReturn = 13;

export type Line = {
  readonly text: string;
  readonly continued: boolean;
  /** Ended by a lone \r: what follows rewrites it. */
  readonly rewritten: boolean;
};

export class LineSplitter {
  #held: Buffer = Buffer.alloc(0);
  #afterReturn = false;

  push(chunk: Buffer): readonly Line[] {
    const lines: Line[] = [];
    let at = 0;
    if (this.#afterReturn && chunk.length > 0) {
      this.#afterReturn = false;
      const isNewline = chunk[0] === newline;
      this.#cutAtReturn(this.#take(Buffer.alloc(0)), isNewline, lines);
      if (isNewline) at = 1;
    }
    while (at < chunk.length) {
      const end = nextEnd(chunk, at);
      if (end < 0) break;
      const isReturn = chunk[end] === carriageReturn;
      if (isReturn && end + 1 === chunk.length) {
        this.#afterReturn = true;
        this.#hold(chunk.subarray(at, end), lines);
        return lines;
      }
      const whole = this.#take(chunk.subarray(at, end));
      at = end + 1;
      if (!isReturn) cut(whole, false, lines);
      else {
        const isNewline = chunk[at] === newline;
        this.#cutAtReturn(whole, isNewline, lines);
        if (isNewline) at += 1;
      }
    }
    this.#hold(chunk.subarray(at), lines);
    return lines;
  }

  /** Returns the text after the last line end. */
  end(): readonly Line[] {
    const lines: Line[] = [];
    const rest = this.#take(Buffer.alloc(0));
    if (rest.length > 0) cut(rest, false, lines);
    return lines;
  }

  #cutAtReturn(whole: Buffer, isNewline: boolean, lines: Line[]): void {
    if (whole.length > 0 || isNewline) cut(whole, !isNewline, lines);
  }

  #take(piece: Buffer): Buffer {
    const whole = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    this.#held = Buffer.alloc(0);
    return whole;
  }

  #hold(piece: Buffer, lines: Line[]): void {
    if (piece.length === 0) return;
    let rest = this.#take(piece);
    while (rest.length > lineBytesMax) {
      const end = boundary(rest);
      lines.push({ text: textOf(rest.subarray(0, end)), continued: true, rewritten: false });
      rest = rest.subarray(end);
    }
    // A copy, since the chunk's memory belongs to the stream.
    this.#held = Buffer.from(rest);
  }
}

function nextEnd(chunk: Buffer, from: number): number {
  const n = chunk.indexOf(newline, from);
  const r = chunk.subarray(0, n < 0 ? chunk.length : n).indexOf(carriageReturn, from);
  return r >= 0 ? r : n;
}

function cut(whole: Buffer, rewritten: boolean, lines: Line[]): void {
  let rest = whole;
  while (rest.length > lineBytesMax) {
    const end = boundary(rest);
    lines.push({ text: textOf(rest.subarray(0, end)), continued: true, rewritten: false });
    rest = rest.subarray(end);
  }
  lines.push({ text: textOf(rest), continued: false, rewritten });
}

/** Finds a boundary between characters: bytes of the form 10xxxxxx continue one. */
function boundary(bytes: Buffer): number {
  let end = lineBytesMax;
  while (end > lineBytesMax - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

function textOf(bytes: Buffer): string {
  return bytes.toString("utf8").replaceAll("\0", "\uFFFD");
}
