/** Returns whether a pattern matches a subject: `*` matches one token, a final `>` one or more. */
export function matchesSubject(pattern: string, subject: string): boolean {
  const wanted = pattern.split(".");
  const tokens = subject.split(".");
  for (const [index, want] of wanted.entries()) {
    if (want === ">") return tokens.length > index;
    if (index >= tokens.length) return false;
    if (want !== "*" && want !== tokens[index]) return false;
  }
  return wanted.length === tokens.length;
}
