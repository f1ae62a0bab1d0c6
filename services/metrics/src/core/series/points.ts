/**
 * The points of one metric of one trial in one order, whatever parts they are stored in: by run, then step, time, rank
 * and number of the key. So an answer made of them is the same before and after compaction, and on every replica.
 */
import { type Aggregation, aggregations } from "../columns/table.ts";

/** Points of one run from one part; all lists are equally long. */
export type Chunk = {
  readonly run: number;
  readonly steps: Float64Array;
  readonly times: Float64Array;
  readonly ranks: Float64Array;
  /** Indexes of `aggregations`. */
  readonly aggregations: Float64Array;
  /** Of the reports' keys. */
  readonly numbers: Float64Array;
  readonly xs: Float64Array;
  readonly values: Float64Array;
};

export type Points = { readonly xs: Float64Array; readonly values: Float64Array };

/** `lastStep`: the last step at which points of a run count. */
export function pointsOf(chunks: readonly Chunk[], lastStep: (run: number) => number): Points {
  const runs = [...Map.groupBy(chunks, ({ run }) => run)].sort(([a], [b]) => a - b);
  return joinPoints(
    runs.map(([run, own]) => {
      const chunks = own.toSorted((a, b) => at(a.steps, 0) - at(b.steps, 0));
      if (isOnePointAStep(chunks)) {
        return joinPoints(chunks.map((chunk) => cut(chunk, lastStep(run))));
      }
      return combineRanks(cut(inOrder(joinChunks(chunks)), lastStep(run)));
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

const columns = ["steps", "times", "ranks", "aggregations", "numbers", "xs", "values"] as const;

function mapColumns(chunk: Chunk, change: (list: Float64Array) => Float64Array): Chunk {
  const changed = columns.map((name) => [name, change(chunk[name])]);
  return { run: chunk.run, ...(Object.fromEntries(changed) as Omit<Chunk, "run">) };
}

/** At least one. */
function joinChunks(chunks: readonly Chunk[]): Chunk {
  const [first] = chunks as readonly [Chunk];
  if (chunks.length === 1) return first;
  const joined = columns.map((name) => [name, join(chunks.map((chunk) => chunk[name]))]);
  return { run: first.run, ...(Object.fromEntries(joined) as Omit<Chunk, "run">) };
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

function inOrder(chunk: Chunk): Chunk {
  const { steps, times, ranks, numbers, values } = chunk;
  const compare = (a: number, b: number): number =>
    at(steps, a) - at(steps, b) ||
    at(times, a) - at(times, b) ||
    at(ranks, a) - at(ranks, b) ||
    at(numbers, a) - at(numbers, b) ||
    (at(values, a) < at(values, b) ? -1 : 1);
  let isOrdered = true;
  for (let i = 1; i < steps.length && isOrdered; i += 1) isOrdered = compare(i - 1, i) < 0;
  if (isOrdered) return chunk;
  const order = Uint32Array.from(steps, (_, index) => index).sort(compare);
  return mapColumns(chunk, (list) => Float64Array.from(order, (index) => at(list, index)));
}

/** Of points in order. */
function cut(chunk: Chunk, lastStep: number): Chunk {
  if (at(chunk.steps, chunk.steps.length - 1) <= lastStep) return chunk;
  const end = chunk.steps.findIndex((step) => step > lastStep);
  return mapColumns(chunk, (list) => list.subarray(0, end));
}

/** The values of several ranks at one step become one, as the last of the reports says. */
function combineRanks(chunk: Chunk): Points {
  const { steps, ranks, xs, values } = chunk;
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
      const how = aggregations[at(chunk.aggregations, end - 1)] ?? "mean";
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
