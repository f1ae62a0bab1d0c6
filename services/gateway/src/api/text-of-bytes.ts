/**
 * The bytes as UTF-8; null for what is no text. A text that is cut off may end within a character, which is left out.
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
