/**
 * Computes the positions of a search's threads.
 *
 * A search with rungs has a panel for each bracket. A column is a rung, at its units. A trial is a thread through the
 * columns that it reached, at the height of its rank, and the cutoff is below the last rank that continues. Without
 * rungs a trial is a lane over time (`clock.ts`), from its start to its end, and a copy is connected to its origin.
 * Pure: the same picture has the same layout.
 */
import type { ReplyOf } from "@trainyard/contracts";
import { type Clock, clockOf } from "./clock.ts";

export type Picture = ReplyOf<"getSearchPicture">;
export type PictureTrial = Picture["trials"][number];
export type PictureDecision = PictureTrial["decisions"][number];

export type ThreadPoint = {
  readonly x: number;
  readonly y: number;
  /** The rung's number in the bracket, for a point at a rung, with the trial's rank there; both as in the picture. */
  readonly rung?: number;
  readonly rank?: number;
};

export type Thread = {
  /** The trial's number in the experiment. */
  readonly trial: number;
  /** The trial's state; max_time if the search stopped it at its full length. */
  readonly state: string;
  /** The points from left to right. */
  readonly points: readonly ThreadPoint[];
  /** The trial is training beyond its last point. */
  readonly ongoing: boolean;
};

export type Column = {
  readonly x: number;
  readonly bracket: number;
  readonly rung: number;
  readonly units: number;
  readonly trials: number;
  readonly kept: number;
  readonly cutoff: number | undefined;
  readonly top: number;
  readonly bottom: number;
  /** The height between the last trial that continues and the next; null without trials. */
  readonly cutoffY: number | null;
};

/** A connection from the lane of a trial to the lane of its copy. */
export type Lineage = {
  readonly from: number;
  readonly to: number;
  readonly x: number;
  readonly fromY: number;
  readonly toY: number;
};

/** A decision on a lane of a search without rungs. */
export type DecisionMark = {
  readonly trial: number;
  readonly x: number;
  readonly y: number;
  readonly verb: string;
};

export type SearchLayout = {
  readonly width: number;
  readonly height: number;
  /** The distance between the middles of neighbouring threads. */
  readonly slot: number;
  readonly columns: readonly Column[];
  readonly threads: readonly Thread[];
  readonly lineage: readonly Lineage[];
  readonly marks: readonly DecisionMark[];
  /** The owner of the time on the x axis of lanes; null with rungs. */
  readonly timeOf: Clock["of"] | null;
  /** Ticks of the time, if that is the x axis. */
  readonly axis: readonly { readonly x: number; readonly units: number }[];
};

const left = 56;
const right = 72;
/** Space above the first rank for the column's heading. */
const head = 58;
const gap = 20;
const panelHeight = 420;
const slotMin = 4;
const slotMax = 22;

export function layoutOf(picture: Picture, width: number): SearchLayout {
  return picture.brackets.length > 0 ? rungLayout(picture, width) : laneLayout(picture, width);
}

const slotOf = (rows: number): number =>
  Math.min(slotMax, Math.max(slotMin, panelHeight / Math.max(1, rows)));

export const numberOf = (trial: string): number => Number(trial.slice(trial.indexOf(".") + 1));

type Seat = { readonly trial: PictureTrial; readonly rank?: number };

/**
 * The trials in the column of a rung, from the top: by rank, followed by those that have not reached their first rung.
 */
function seatsOf(trials: readonly PictureTrial[], rung: number): readonly Seat[] {
  const there = trials.flatMap((trial): Required<Seat>[] => {
    const report = trial.reports.find((one) => one.rung === rung);
    return report === undefined ? [] : [{ trial, rank: report.rank }];
  });
  const coming = trials.filter((trial) => trial.reports.length === 0 && trial.rung === rung);
  const byNumber = (a: Seat, b: Seat): number => numberOf(a.trial.trial) - numberOf(b.trial.trial);
  return [
    ...there.toSorted((a, b) => a.rank - b.rank || byNumber(a, b)),
    ...coming.map((trial) => ({ trial })).toSorted(byNumber),
  ];
}

function rungLayout(picture: Picture, width: number): SearchLayout {
  const units = [
    ...new Set(picture.brackets.flatMap(({ rungs }) => rungs.map((rung) => rung.units))),
  ].toSorted((a, b) => a - b);
  const step = (width - left - right) / Math.max(1, units.length - 1);
  const xOf = (at: number): number => left + step * units.indexOf(at);
  const seated = picture.brackets.map(({ rungs }, bracket) => {
    const members = picture.trials.filter((trial) => trial.bracket === bracket);
    return rungs.map((_, rung) => seatsOf(members, rung));
  });
  const rows = Math.max(1, ...seated.flat().map((seats) => seats.length));
  const slot = slotOf(rows);
  const points = new Map<PictureTrial, ThreadPoint[]>();
  const columns: Column[] = [];
  let top = 0;
  for (const [bracket, { rungs }] of picture.brackets.entries()) {
    const columnsOf = seated[bracket] ?? [];
    const bottom = top + head + slot * Math.max(1, ...columnsOf.map((seats) => seats.length));
    for (const [rung, { units: at, trials, kept, cutoff }] of rungs.entries()) {
      const x = xOf(at);
      for (const [index, { trial, rank }] of (columnsOf[rung] ?? []).entries()) {
        const place = rank === undefined ? {} : { rung, rank };
        const own = points.get(trial) ?? [];
        own.push({ x, y: top + head + slot * (index + 0.5), ...place });
        points.set(trial, own);
      }
      const cutoffY = kept > 0 ? top + head + slot * kept : null;
      columns.push({ x, bracket, rung, units: at, trials, kept, cutoff, top, bottom, cutoffY });
    }
    top = bottom + gap;
  }
  const threads = picture.trials.flatMap((trial): Thread[] => {
    const own = points.get(trial);
    if (own === undefined) return [];
    return [
      { trial: numberOf(trial.trial), state: endOf(trial), points: own, ongoing: goesOn(trial) },
    ];
  });
  return {
    width,
    height: Math.max(0, top - gap),
    slot,
    columns,
    threads,
    lineage: [],
    marks: [],
    timeOf: null,
    axis: [],
  };
}

/** The rule that stops a trial that has trained to its end; the mark at the end of its thread says so. */
const FULL_LENGTH = "max_time";

/** Returns the trial's state, or the rule if the search stopped it at its full length. */
function endOf({ state, decisions }: PictureTrial): string {
  return state === "stopped_early" && decisions.at(-1)?.rule === FULL_LENGTH ? FULL_LENGTH : state;
}

/** Reports whether a trial trains beyond the last rung that it reached. */
function goesOn({ state, reports, rung = 0 }: PictureTrial): boolean {
  const last = reports.at(-1);
  return state === "running" && last !== undefined && rung > last.rung;
}

function laneLayout(picture: Picture, width: number): SearchLayout {
  const slot = slotOf(picture.trials.length);
  const clock = clockOf(picture);
  const { span } = clock;
  const xOf = (time: number): number =>
    left + ((width - left - right) * Math.min(span, Math.max(0, time))) / span;
  const yAt = (index: number): number => head + slot * (index + 0.5);
  const rows = new Map(picture.trials.map(({ trial }, index) => [trial, yAt(index)]));
  const threads = picture.trials.map((trial): Thread => {
    const y = rows.get(trial.trial) ?? 0;
    const from = xOf(clock.start(trial));
    return {
      trial: numberOf(trial.trial),
      state: endOf(trial),
      points: [
        { x: from, y },
        { x: Math.max(from, xOf(clock.end(trial))), y },
      ],
      ongoing: false,
    };
  });
  const lineage = picture.trials.flatMap((trial): Lineage[] => {
    const fromY = rows.get(trial.startFromTrial ?? "");
    const toY = rows.get(trial.trial);
    if (trial.startFromTrial === undefined || fromY === undefined || toY === undefined) return [];
    const ends = { from: numberOf(trial.startFromTrial), to: numberOf(trial.trial) };
    return [{ ...ends, x: xOf(clock.start(trial)), fromY, toY }];
  });
  const marks = picture.trials.flatMap((trial) =>
    trial.decisions
      .filter(({ event, rule }) => event !== "TrialProposed" && rule !== FULL_LENGTH)
      .map((decision) => ({
        trial: numberOf(trial.trial),
        x: xOf(clock.at(trial, decision)),
        y: rows.get(trial.trial) ?? 0,
        verb: decision.verb,
      })),
  );
  const height = head + slot * picture.trials.length;
  const axis = [0, 0.25, 0.5, 0.75, 1].map((share) => ({
    x: xOf(share * span),
    units: share * span,
  }));
  const lanes = { threads, lineage, marks, axis, timeOf: clock.of };
  return { width, height, slot, columns: [], ...lanes };
}

/** The height of a thread between two of its points; the curve is level at both ends. */
export function heightAt(a: ThreadPoint, b: ThreadPoint, x: number): number {
  if (b.x <= a.x) return b.y;
  const t = Math.min(1, Math.max(0, (x - a.x) / (b.x - a.x)));
  return a.y + (b.y - a.y) * t * t * (3 - 2 * t);
}

/** The length of a thread to the left of its first rung, and beyond its last rung during training. */
export const stub = 36;

/** The thread at a point; null if none is within a few pixels. */
export function threadAt({ threads, slot }: SearchLayout, x: number, y: number): Thread | null {
  let best: Thread | null = null;
  let least = Math.max(6, slot / 2);
  for (const thread of threads) {
    const distance = Math.abs(heightOf(thread, x) - y);
    if (distance < least) {
      best = thread;
      least = distance;
    }
  }
  return best;
}

/** The height of a thread at an x; NaN outside of the thread. */
function heightOf({ points, ongoing }: Thread, x: number): number {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return Number.NaN;
  if (x < first.x - stub || x > last.x + (ongoing ? stub : 8)) return Number.NaN;
  if (x <= first.x) return first.y;
  if (x >= last.x) return last.y;
  const next = points.findIndex((point) => point.x >= x);
  const [a, b] = [points[next - 1], points[next]];
  return a === undefined || b === undefined ? last.y : heightAt(a, b, x);
}
