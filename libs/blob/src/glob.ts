/**
 * Patterns of paths: `*` and `?` match within a name, `**` as a whole name matches any number of folders. Every other
 * character matches itself. Matching takes time proportional to the product of both lengths, whatever the pattern.
 */
const globCharactersMax = 1_024;

/** Returns the mistake in a pattern as a sentence; null for a valid pattern. */
export function problemOfGlob(glob: string): string | null {
  const shown = JSON.stringify(glob.slice(0, 100));
  if (glob === "") return "a pattern is empty";
  if (glob.length > globCharactersMax)
    return `a pattern has at most ${globCharactersMax} characters`;
  if (glob.startsWith("/"))
    return `the pattern ${shown} is absolute: patterns begin in the checkpoint`;
  const outside = glob.split("/").some((name) => name === ".." || name === ".");
  return outside ? `the pattern ${shown} leaves the checkpoint: . and .. match no file` : null;
}

/** Returns a predicate: does a path, with / between its names, match one of the patterns? */
export function globMatcher(globs: readonly string[]): (path: string) => boolean {
  const patterns = globs.map((glob) => glob.split("/"));
  return (path) => {
    const names = path.split("/");
    return patterns.some((pattern) => matchesNames(pattern, names));
  };
}

function matchesNames(pattern: readonly string[], names: readonly string[]): boolean {
  return matches(
    pattern.length,
    names.length,
    (at) => pattern[at] === "**",
    (at, name) => matchesName(pattern[at] ?? "", names[name] ?? ""),
  );
}

function matchesName(pattern: string, name: string): boolean {
  return matches(
    pattern.length,
    name.length,
    (at) => pattern[at] === "*",
    (at, index) => pattern[at] === "?" || pattern[at] === name[index],
  );
}

/** Greedy matching with one point to backtrack to: the last `*` or `**` of the pattern. */
function matches(
  patternLength: number,
  length: number,
  isAny: (at: number) => boolean,
  fits: (at: number, index: number) => boolean,
): boolean {
  let [at, index, back, backIndex] = [0, 0, -1, 0];
  while (index < length) {
    if (at < patternLength && isAny(at)) {
      [back, backIndex] = [at, index];
      at += 1;
    } else if (at < patternLength && fits(at, index)) {
      at += 1;
      index += 1;
    } else if (back >= 0) {
      backIndex += 1;
      [at, index] = [back + 1, backIndex];
    } else return false;
  }
  while (at < patternLength && isAny(at)) at += 1;
  return at === patternLength;
}
