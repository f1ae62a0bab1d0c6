/**
 * The points of one metric of one trial in one order, whatever parts they are stored in: by run, then step, time, rank
 * and number of the key. So an answer made of them is the same before and after compaction, and on every replica.
 */
import { type Aggregation, aggregations } from "../columns/table.ts";

/** Points of one run from one part; all lists are equally long. */
export type Chunk = Line & {
  readonly run: number;
  /** Takes longer to decode than the points do: read only where several points are at one step. */
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
  /** Indexes of `aggregations`. */
  readonly aggregations: Float64Array;
  /** Of the reports' keys. */
  readonly numbers: Float64Array;
};

type Whole = Line & Rest;

export type Points = { readonly xs: Float64Array; readonly values: Float64Array };

/** `lastStep`: the last step at which points of a run count. */
export function pointsOf(chunks: readonly Chunk[], lastStep: (run: number) => number): Points {
  const runs = [...Map.groupBy(chunks, ({ run }) => run)].sort(([a], [b]) => a - b);
  return joinPoints(
    runs.map(([run, own]) => {
      const chunks = own.toSorted((a, b) => at(a.steps, 0) - at(b.steps, 0));
      if (isOnePointAStep(chunks)) {
        return joinPoints(chunks.map((chunk) => cut(lineOf(chunk), lastStep(run))));
      }
      const whole = chunks.map((chunk) => ({ ...lineOf(chunk), ...chunk.rest() }));
      return combineRanks(cut(inOrder(joinWhole(whole)), lastStep(run)));
    }),
  );
}

export function joinPoints(parts: readonly Points[]): Points {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return { xs: only.xs, values: only.values };
  return { xs: join(parts.map(({ xs }) => xs)), values: join(parts.map(({ values }) => values)) };
}

/** Nothing has to be put in order or combined: nearly every series. */
function isOnePointAStep(chunks: readonly Chunk[]): boolean {
  let before = Number.NEGATIVE_INFINITY;
  for (const { steps } of chunks) {
    for (let i = 0; i < steps.length; i += 1) {
      const step = at(steps, i);
      if (!(step > before)) return false;
      before = step;
    }
  }
  return true;
}

const lineOf = ({ steps, xs, values }: Chunk): Line => ({ steps, xs, values });

function mapLists<Lists extends Line>(
  lists: Lists,
  change: (list: Float64Array, name: keyof Lists) => Float64Array,
): Lists {
  const entries = Object.entries(lists).map(([name, list]) => [
    name,
    change(list, name as keyof Lists),
  ]);
  return Object.fromEntries(entries) as Lists; // Of the same names.
}

/** At least one. */
function joinWhole(parts: readonly Whole[]): Whole {
  const [first] = parts as readonly [Whole];
  return parts.length === 1
    ? first
    : mapLists(first, (_, name) => join(parts.map((part) => part[name])));
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

function inOrder(whole: Whole): Whole {
  const { steps, times, ranks, numbers, values } = whole;
  const compare = (a: number, b: number): number =>
    at(steps, a) - at(steps, b) ||
    at(times, a) - at(times, b) ||
    at(ranks, a) - at(ranks, b) ||
    at(numbers, a) - at(numbers, b) ||
    (at(values, a) < at(values, b) ? -1 : 1);
  let isOrdered = true;
  for (let i = 1; i < steps.length && isOrdered; i += 1) isOrdered = compare(i - 1, i) < 0;
  if (isOrdered) return whole;
  const order = Uint32Array.from(steps, (_, index) => index).sort(compare);
  return mapLists(whole, (list) => Float64Array.from(order, (index) => at(list, index)));
}

/** Of points in order. */
function cut<Lists extends Line>(lists: Lists, lastStep: number): Lists {
  const { steps } = lists;
  if (at(steps, steps.length - 1) <= lastStep) return lists;
  const end = steps.findIndex((step) => step > lastStep);
  return mapLists(lists, (list) => list.subarray(0, end));
}

/** The values of several ranks at one step become one, as the last of the reports says. */
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
      // A rank that reports twice at a step has two points.
      // Not as arguments of one call, which are too many for the stack where a script reports each batch at one step.
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

/** The callers stay within the list. */
const at = (list: Float64Array, index: number): number => list[index] ?? Number.NaN;
