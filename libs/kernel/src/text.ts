/**
 * A text of somebody else's making as an event may hold it: cut, and without NUL and halves of characters, which no database
 * takes. Each becomes U+FFFD.
 */
export function storableText(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).toWellFormed().replaceAll("\0", "\uFFFD");
}
