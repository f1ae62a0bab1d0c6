import type { RequestInitOf } from "@trainyard/contracts";
import { useMemo, useRef } from "react";
import { useReads } from "../../data/calls.ts";
import { type ChartGroup, type ChartTrial, type Line, lineOf, type Series } from "./line.ts";
import type { Range } from "./scale.ts";

/** The subject of a chart's lines. */
export type SeriesOf = {
  readonly trials: readonly ChartTrial[];
  readonly groups?: readonly ChartGroup[] | undefined;
  readonly group: string;
  readonly name: string;
  readonly x: string;
};

export type ReadLines = {
  readonly lines: readonly Line[];
  /** The answers are incomplete, because a read is pending or failed. */
  readonly missing: "nothing" | "pending" | "failed";
};

/** A single line has as many buckets as it may have pixels; each of many lines has fewer. */
const bucketsMax = 1_000;
const bucketsMin = 200;
const bucketsOfAll = 40_000;

type Read = {
  readonly request: RequestInitOf<"queryMetrics">;
  /** Returns the trial that a series is drawn as; a group's one series is drawn as the group. */
  readonly drawnAs: (trial: string) => ChartTrial | undefined;
};

/**
 * Reads the lines of a metric: a line for each trial, or one for each group. A zoom reads the buckets of its range, and
 * until they arrive the buckets of the whole range are shown.
 */
export function useSeries(of: SeriesOf, zoom: Range | null): ReadLines {
  const { trials, groups, group, name, x } = of;
  const reads = useMemo(
    () => readsOf({ trials, groups, group, name, x }),
    [trials, groups, group, name, x],
  );
  const whole = useLines(reads, null);
  const part = useLines(zoom === null ? noReads : reads, zoom);
  const key = JSON.stringify([group, name, x, groups !== undefined]);
  const last = useRef({ key: "", lines: whole.lines });
  const best = zoom !== null && part.missing === "nothing" ? part : whole;
  // While other trials or another range are read, the earlier lines of the same axes stay.
  const isOld = best.missing === "pending" && last.current.key === key;
  if (isOld) return { lines: last.current.lines, missing: "nothing" };
  if (best.missing === "nothing") last.current = { key, lines: best.lines };
  return best;
}

const noReads: readonly Read[] = [];

function readsOf({ trials, groups, group, name, x }: SeriesOf): readonly Read[] {
  const count = groups?.length ?? trials.length;
  const each = Math.floor(bucketsOfAll / Math.max(1, count));
  const buckets = Math.max(bucketsMin, Math.min(bucketsMax, each));
  const asked = { group, names: [name], x, buckets };
  if (groups !== undefined) {
    return groups.map((one) => ({
      request: { ...asked, trials: [...one.trials], combined: true },
      drawnAs: () => ({ id: one.name, label: one.name, look: one.look }),
    }));
  }
  if (trials.length === 0) return noReads;
  const byId = new Map(trials.map((trial) => [trial.id, trial]));
  const request = { ...asked, trials: [...byId.keys()] };
  return [{ request, drawnAs: (trial) => byId.get(trial) }];
}

function useLines(reads: readonly Read[], zoom: Range | null): ReadLines {
  const range = zoom === null ? {} : { from: zoom[0], to: zoom[1] };
  const answers = useReads(
    "queryMetrics",
    reads.map(({ request }) => ({ ...request, ...range })),
  );
  const series = useSame(answers.map(({ data }) => data?.series ?? noSeries));
  const lines = useMemo(
    () =>
      reads.flatMap(({ drawnAs }, at) =>
        (series[at] ?? noSeries).flatMap((one) => {
          const trial = one.xMin.length === 0 ? undefined : drawnAs(one.trial);
          return trial === undefined ? [] : [lineOf(one, trial)];
        }),
      ),
    [reads, series],
  );
  const failed = answers.some(({ error, data }) => error !== null && data === undefined);
  // Until the trials are known there is nothing to read.
  const pending = reads.length === 0 || answers.some(({ data }) => data === undefined);
  return { lines, missing: failed ? "failed" : pending ? "pending" : "nothing" };
}

const noSeries: readonly Series[] = [];

/** Returns the earlier list as long as its entries are the same. */
function useSame<Of>(list: readonly Of[]): readonly Of[] {
  const kept = useRef(list);
  const same =
    kept.current.length === list.length && list.every((one, at) => one === kept.current[at]);
  if (!same) kept.current = list;
  return kept.current;
}
