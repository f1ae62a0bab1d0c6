/**
 * Makes any text storable in an event: cuts it, and replaces NUL and lone surrogates, which databases refuse, by
 * U+FFFD.
 */
export function storableText(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).toWellFormed().replaceAll("\0", "\uFFFD");
}

/** Returns whether PostgreSQL stores a text unchanged: it refuses NUL and lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Returns the length of a text in UTF-8 bytes. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length) {
      bytes += 4;
      i += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** Returns whether a text fits into one line: without control characters, and without spaces at its ends. */
export function isLine(text: string): boolean {
  return text.trim() === text && !/[\u0000-\u001f\u007f-\u009f]/.test(text);
}
