/** Returns a typed code as programs show it: eight capital letters with a hyphen in the middle. */
export function codeText(typed: string): string {
  const letters = typed.toUpperCase().replaceAll(/[^A-Z]/g, "");
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters;
}
