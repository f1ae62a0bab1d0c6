/**
 * Decodes UTF-8; null if the bytes are not text. A character that the cut of a truncated text has split is left out.
 */
export function textOfBytes(content: Buffer, truncated = false): string | null {
  if (content.includes(0)) return null;
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(content, { stream: truncated });
  } catch {
    return null;
  }
}
