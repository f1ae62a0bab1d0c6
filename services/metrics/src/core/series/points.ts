/**
 * Orders the points of one metric of one trial by run, step, time, rank and key number, independently of the parts that
 * store them. The answer is therefore the same before and after compaction, and on every replica.
 */
import { type Aggregation, aggregations } from "../columns/table.ts";

/** Points of one run from one part; all lists have the same length. */
export type Chunk = Line & {
  readonly run: number;
  /** The other columns, which are slower to decode than the points: read only where several points share a step. */
  readonly rest: () => Rest;
};

type Line = {
  readonly steps: Float64Array;
  readonly xs: Float64Array;
  readonly values: Float64Array;
};

type Rest = {
  readonly times: Float64Array;
  readonly ranks: Float64Array;
  /** Indexes into `aggregations`. */
  readonly aggregations: Float64Array;
  /** The numbers of the reports' keys. */
  readonly numbers: Float64Array;
};

type Whole = Line & Rest;

export type Points = { readonly xs: Float64Array; readonly values: Float64Array };

/**
 * Merges chunks into stretches of points, which together are the points in their order; `lastStep` returns the last
 * step at which a run's points count. Blocks that do not overlap are stretches as they are, without a copy.
 */
export function stretchesOf(
  chunks: readonly Chunk[],
  lastStep: (run: number) => number,
): readonly Points[] {
  const runs = [...Map.groupBy(chunks, ({ run }) => run)].sort(([a], [b]) => a - b);
  return runs.flatMap(([run, own]) => {
    const chunks = own.toSorted((a, b) => at(a.steps, 0) - at(b.steps, 0));
    const rising = inStepOrder(chunks.map(lineOf), lastStep(run));
    if (rising !== null) return rising;
    const whole = chunks.map((chunk) => ({ ...lineOf(chunk), ...chunk.rest() }));
    return [combineRanks(cut(inOrder(joinLists(whole)), lastStep(run)))];
  });
}

export function joinPoints(parts: readonly Points[]): Points {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return { xs: only.xs, values: only.values };
  return { xs: join(parts.map(({ xs }) => xs)), values: join(parts.map(({ values }) => values)) };
}

const lineOf = ({ steps, xs, values }: Chunk): Line => ({ steps, xs, values });

function mapLists<Lists extends Line>(
  lists: Lists,
  change: (list: Float64Array, name: string) => Float64Array,
): Lists {
  const entries = Object.entries(lists).map(([name, list]) => [name, change(list, name)]);
  return Object.fromEntries(entries) as Lists; // The result has the same names.
}

/** Concatenates at least one part. */
function joinLists<Lists extends Line>(parts: readonly Lists[]): Lists {
  const [first] = parts as readonly [Lists];
  const listOf = (part: Line, name: string) => part[name as keyof Line]; // A list of the first part.
  return parts.length === 1
    ? first
    : mapLists(first, (_, name) => join(parts.map((part) => listOf(part, name))));
}

function join(lists: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const list of lists) {
    joined.set(list, end);
    end += list.length;
  }
  return joined;
}

/**
 * Merges lines, which are in the order of their first steps, by step; nearly every series has one point per step.
 *
 * Blocks that several requests filled at once overlap, but each has long stretches that no other line interrupts. A
 * stretch is copied up to the next line's step. Returns null where points share a step, or where the steps of a line do
 * not rise.
 */
function inStepOrder(lines: readonly Line[], lastStep: number): readonly Points[] | null {
  // Steps beyond the cut are checked too late, so the whole lines are checked first.
  if (!lines.every(({ steps }) => isRising(steps))) return null;
  const cutLines = lines.map((line) => cut(line, lastStep)).filter(({ steps }) => steps.length > 0);
  if (areApart(cutLines)) return cutLines;
  const left: Cursor[] = cutLines.map((line) => ({ line, next: 0 }));
  const size = left.reduce((sum, { line }) => sum + line.steps.length, 0);
  const [xs, values] = [new Float64Array(size), new Float64Array(size)];
  let end = 0;
  for (let first = 0; first < left.length; ) {
    const cursor = left[first] as Cursor; // Within the list.
    const { line, next: start } = cursor;
    cursor.next = stretchEnd(line.steps, start, nextStep(left[first + 1]));
    // Another line has a point at the same step.
    if (cursor.next === start) return null;
    xs.set(line.xs.subarray(start, cursor.next), end);
    values.set(line.values.subarray(start, cursor.next), end);
    end += cursor.next - start;
    if (cursor.next === line.steps.length) first += 1;
    else moveBack(left, first);
  }
  return [{ xs, values }];
}

/** Reports whether each line ends before the next one begins. */
const areApart = (lines: readonly Line[]): boolean =>
  lines.every(
    ({ steps }, index) =>
      index === 0 || at(steps, 0) > (lines[index - 1]?.steps.at(-1) ?? Number.NaN),
  );

/** A line and the index of its first unmerged point. */
type Cursor = { readonly line: Line; next: number };

/** The index of the first step from `start` that is at least the bound. The steps are ascending. */
function stretchEnd(steps: Float64Array, start: number, bound: number): number {
  let [low, high] = [start, steps.length];
  // Most stretches extend to the end of the line.
  if (at(steps, high - 1) < bound) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(steps, middle) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

const nextStep = (cursor: Cursor | undefined): number =>
  cursor === undefined ? Number.POSITIVE_INFINITY : at(cursor.line.steps, cursor.next);

/**
 * Restores the order by next step after the first line has advanced: it moves back past the lines that come before it.
 */
function moveBack(cursors: Cursor[], first: number): void {
  const moved = cursors[first] as Cursor; // The caller's index is within the list.
  for (let place = first; nextStep(cursors[place + 1]) < nextStep(moved); place += 1) {
    cursors[place] = cursors[place + 1] as Cursor; // Present, since the place has a step.
    cursors[place + 1] = moved;
  }
}

function isRising(steps: Float64Array): boolean {
  for (let i = 1, before = at(steps, 0); i < steps.length; i += 1) {
    const step = at(steps, i);
    if (!(step > before)) return false;
    before = step;
  }
  return true;
}

function inOrder(whole: Whole): Whole {
  const { steps, times, ranks, numbers, values } = whole;
  const order = orderOf(
    steps,
    (a, b) =>
      at(steps, a) - at(steps, b) ||
      at(times, a) - at(times, b) ||
      at(ranks, a) - at(ranks, b) ||
      at(numbers, a) - at(numbers, b) ||
      (at(values, a) < at(values, b) ? -1 : 1),
  );
  return order === null ? whole : mapLists(whole, (list) => taken(list, order));
}

/**
 * Returns the sorted indexes; null for points in order. `compare` must order by step first. Only points out of order
 * are sorted: a step above all earlier and below all later steps stays in place.
 */
function orderOf(
  steps: Float64Array,
  compare: (a: number, b: number) => number,
): Uint32Array | null {
  let isOrdered = true;
  for (let i = 1; i < steps.length && isOrdered; i += 1) isOrdered = compare(i - 1, i) <= 0;
  if (isOrdered) return null;
  const order = new Uint32Array(steps.length);
  for (let i = 0; i < order.length; i += 1) order[i] = i;
  const leastFrom = new Float64Array(steps.length + 1).fill(Number.POSITIVE_INFINITY);
  for (let i = steps.length - 1; i >= 0; i -= 1) {
    leastFrom[i] = Math.min(at(steps, i), at(leastFrom, i + 1));
  }
  let [greatest, start] = [Number.NEGATIVE_INFINITY, 0];
  const sortUpTo = (end: number): void => {
    if (end - start > 1) order.set(Array.from(order.subarray(start, end)).sort(compare), start);
    start = end + 1;
  };
  for (let i = 0; i < steps.length; i += 1) {
    const step = at(steps, i);
    if (step > greatest && step < at(leastFrom, i + 1)) sortUpTo(i);
    if (step > greatest) greatest = step;
  }
  sortUpTo(steps.length);
  return order;
}

function taken(list: Float64Array, order: Uint32Array): Float64Array {
  const inOrder = new Float64Array(order.length);
  for (let i = 0; i < order.length; i += 1) inOrder[i] = at(list, order[i] ?? -1);
  return inOrder;
}

/** Drops the points after the step; the points are in order. */
function cut<Lists extends Line>(lists: Lists, lastStep: number): Lists {
  const { steps } = lists;
  if (at(steps, steps.length - 1) <= lastStep) return lists;
  const end = steps.findIndex((step) => step > lastStep);
  return mapLists(lists, (list) => list.subarray(0, end));
}

/** Combines the values of several ranks at one step, by the aggregation of the last report. */
function combineRanks(whole: Whole): Points {
  const { steps, ranks, xs, values } = whole;
  if (ranks.every((rank) => rank === ranks[0])) return { xs, values };
  const combined: { readonly xs: number[]; readonly values: number[] } = { xs: [], values: [] };
  for (let start = 0, end = 0; start < steps.length; start = end) {
    const byRank = new Map<number, number>();
    for (end = start; end < steps.length && steps[end] === steps[start]; end += 1) {
      byRank.set(at(ranks, end), at(values, end));
    }
    if (byRank.size === 1) {
      // A rank that reports twice at a step has two points. They are not spread into arguments of one call: a script
      // that reports every batch at one step would overflow the stack.
      for (let index = start; index < end; index += 1) {
        combined.xs.push(at(xs, index));
        combined.values.push(at(values, index));
      }
    } else {
      const how = aggregations[at(whole.aggregations, end - 1)] ?? "mean";
      combined.xs.push(at(xs, start));
      combined.values.push(combine(how, [...byRank.values()]));
    }
  }
  return { xs: Float64Array.from(combined.xs), values: Float64Array.from(combined.values) };
}

function combine(how: Aggregation, values: readonly number[]): number {
  if (how === "min") return values.reduce((a, b) => Math.min(a, b));
  if (how === "max") return values.reduce((a, b) => Math.max(a, b));
  const sum = values.reduce((total, value) => total + value, 0);
  return how === "sum" ? sum : sum / values.length;
}

/** Callers pass an index within the list. */
const at = (list: Float64Array, index: number): number => list[index] ?? Number.NaN;
