/** The questions to the metrics service that together answer one query for series. */
import { apiLimits } from "../limits.ts";

export type SeriesTrial = { readonly id: string; readonly stepsCompleted: number };

export type SeriesRequest = {
  readonly names: readonly string[];
  readonly combined: boolean;
  readonly buckets: number;
};

export type SeriesQuestion = {
  readonly trials: readonly string[];
  readonly names: readonly string[];
};

/**
 * Divides a query so that each answer fits into one message and is made within the deadline: a question is of several
 * trials with few steps, or of some names of one trial. A combined series is of all trials. The answers, one after the
 * other, have the series in the order of the trials and of their names.
 */
export function questionsOf(
  trials: readonly SeriesTrial[],
  { names, combined, buckets }: SeriesRequest,
): readonly SeriesQuestion[] {
  const seriesMost = Math.max(1, Math.floor(apiLimits.seriesBucketsMax / buckets));
  if (combined || trials.length === 0) {
    const all = trials.map(({ id }) => id);
    return inPieces(names, seriesMost).map((some) => ({ trials: all, names: some }));
  }
  if (names.length > seriesMost) {
    return trials.flatMap(({ id }) =>
      inPieces(names, seriesMost).map((some) => ({ trials: [id], names: some })),
    );
  }
  const trialsMost = Math.floor(seriesMost / Math.max(1, names.length));
  return byEffort(trials, names.length, trialsMost).map((some) => ({ trials: some, names }));
}

/**
 * Divides trials into groups of at most `most` that are read in time together. The steps are an estimate of the points
 * of each name: nearly all scripts report at most once at each step.
 */
function byEffort(
  trials: readonly SeriesTrial[],
  names: number,
  most: number,
): readonly (readonly string[])[] {
  const groups: string[][] = [];
  let points = 0;
  for (const { id, stepsCompleted } of trials) {
    points += stepsCompleted * names;
    const group = groups.at(-1);
    if (group !== undefined && group.length < most && points <= apiLimits.seriesPointsMax) {
      group.push(id);
    } else {
      groups.push([id]);
      points = stepsCompleted * names;
    }
  }
  return groups;
}

/** Splits items into pieces; the result has at least one piece, perhaps an empty one. */
function inPieces<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const pieces: (readonly Item[])[] = [];
  for (let start = 0; start === 0 || start < items.length; start += size) {
    pieces.push(items.slice(start, start + size));
  }
  return pieces;
}
