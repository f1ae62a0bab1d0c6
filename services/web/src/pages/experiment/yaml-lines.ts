/**
 * Finds the lines of given keys in a configuration, including all lines below them. It reads only the platform's form
 * of a configuration: block style, two spaces a level, each key at the start of its line.
 */

const keyed = /^( *)(?:"([^"]+)"|([^\s"#-][^:]*)):(?: |$)/;

/** Returns line numbers from 0; keys are paths with dots: `searcher.divisor`. */
export function linesOfKeys(text: string, keys: readonly string[]): ReadonlySet<number> {
  const wanted = new Set(keys);
  const found = new Set<number>();
  const path: string[] = [];
  /** The indentation of the last found key, while lines are below it. */
  let above: number | null = null;
  for (const [at, line] of text.split("\n").entries()) {
    const indent = line.length - line.trimStart().length;
    const isItem = line.startsWith("- ", indent);
    if (above !== null && (indent > above || (indent === above && isItem))) {
      found.add(at);
      continue;
    }
    above = null;
    const [, spaces = "", quoted, bare] = keyed.exec(line) ?? [];
    const name = quoted ?? bare;
    if (name === undefined) continue;
    path.splice(spaces.length / 2, path.length, name);
    if (!wanted.has(path.join("."))) continue;
    found.add(at);
    above = indent;
  }
  return found;
}
