/**
 * Compares two texts by lines, in the unified format of diff(1). It finds the shortest edit script by Myers' algorithm
 * ("An O(ND) difference algorithm", 1986, section 4), whose time grows with the number of differences. If two texts
 * differ by more than the limit, everything between their common beginning and end is shown as replaced; that is
 * correct, but not the shortest diff.
 */
type Edit = { readonly sign: " " | "-" | "+"; readonly line: string };

const contextLines = 3;
const noNewline = "\n\\ No newline at end of file";

/** Returns the diff; empty for equal texts. Null means that the file does not exist. */
export function unifiedDiff(
  path: string,
  before: string | null,
  after: string | null,
  differencesMax: number,
): string {
  if (before === after) return "";
  const edits = editsOf(linesOf(before ?? ""), linesOf(after ?? ""), differencesMax);
  const names = [
    before === null ? "--- /dev/null" : `--- a/${path}`,
    after === null ? "+++ /dev/null" : `+++ b/${path}`,
  ];
  return [...names, ...hunksOf(edits)].map((line) => `${line}\n`).join("");
}

function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, last + noNewline];
}

function editsOf(
  before: readonly string[],
  after: readonly string[],
  differencesMax: number,
): readonly Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) {
    start += 1;
  }
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [mine, theirs] = [
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  ];
  const between = shortest(mine, theirs, differencesMax) ?? [
    ...mine.map((line): Edit => ({ sign: "-", line })),
    ...theirs.map((line): Edit => ({ sign: "+", line })),
  ];
  const same = (line: string): Edit => ({ sign: " ", line });
  return [
    ...before.slice(0, start).map(same),
    ...between,
    ...before.slice(before.length - end).map(same),
  ];
}

/** The furthest x on each diagonal k = x - y, in an array that begins at k = -d - 1. */
type Reach = { readonly d: number; readonly x: Int32Array };

const at = ({ d, x }: Reach, k: number): number => x[k + d + 1] ?? -1;

/** Whether diagonal k is best entered from above (an insertion), rather than from the left (a deletion). */
const entersFromAbove = (reach: Reach, k: number, d: number): boolean =>
  k === -d || (k !== d && at(reach, k - 1) < at(reach, k + 1));

function shortest(
  a: readonly string[],
  b: readonly string[],
  most: number,
): readonly Edit[] | null {
  const trace: Reach[] = [];
  let last: Reach = { d: 0, x: new Int32Array([-1, 0, 0]) };
  for (let d = 0; d <= Math.min(most, a.length + b.length); d += 1) {
    trace.push(last);
    const next: Reach = { d, x: new Int32Array(2 * d + 3).fill(-1) };
    for (let k = -d; k <= d; k += 2) {
      let x = entersFromAbove(last, k, d) ? at(last, k + 1) : at(last, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      next.x[k + d + 1] = x;
      if (x >= a.length && x - k >= b.length) return walkedBack(trace, a, b);
    }
    last = next;
  }
  return null;
}

function walkedBack(
  trace: readonly Reach[],
  a: readonly string[],
  b: readonly string[],
): readonly Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reach = trace[d] as Reach;
    const k = x - y;
    const above = entersFromAbove(reach, k, d);
    const from = d === 0 ? 0 : above ? at(reach, k + 1) : at(reach, k - 1);
    const fromY = d === 0 ? 0 : from - (above ? k + 1 : k - 1);
    while (x > from && y > fromY) {
      x -= 1;
      y -= 1;
      edits.push({ sign: " ", line: a[x] ?? "" });
    }
    if (d === 0) break;
    if (above) edits.push({ sign: "+", line: b[fromY] ?? "" });
    else edits.push({ sign: "-", line: a[from] ?? "" });
    [x, y] = [from, fromY];
  }
  return edits.reverse();
}

/** Groups the edits with their context lines into hunks; hunks that touch are joined. */
function hunksOf(edits: readonly Edit[]): readonly string[] {
  const lines: string[] = [];
  let [old, fresh, next] = [1, 1, 0];
  const pass = (until: number): void => {
    for (; next < until; next += 1) {
      if (edits[next]?.sign !== "+") old += 1;
      if (edits[next]?.sign !== "-") fresh += 1;
    }
  };
  for (;;) {
    const first = edits.findIndex(({ sign }, index) => index >= next && sign !== " ");
    if (first < 0) return lines;
    let last = first;
    for (let index = first; index < edits.length && index <= last + 2 * contextLines; index += 1) {
      if (edits[index]?.sign !== " ") last = index;
    }
    pass(Math.max(next, first - contextLines));
    const hunk = edits.slice(next, last + 1 + contextLines);
    const count = (other: string): number => hunk.filter(({ sign }) => sign !== other).length;
    lines.push(`@@ -${range(old, count("+"))} +${range(fresh, count("-"))} @@`);
    for (const { sign, line } of hunk) lines.push(sign + line);
    pass(next + hunk.length);
  }
}

/** The range in a hunk's header. An empty range has the number of the line before it. */
const range = (start: number, lines: number): string =>
  lines === 1 ? String(start) : `${lines === 0 ? start - 1 : start},${lines}`;
