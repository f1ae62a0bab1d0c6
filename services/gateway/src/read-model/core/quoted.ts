/** Returns a text, decoded if it is quoted as JSON; null if the quoting is invalid. */
export function unquoted(text: string): string | null {
  if (!text.startsWith('"')) return text;
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "string" ? read : null;
  } catch {
    return null;
  }
}
