/** The headings over the columns of the search view, short where columns are close: pure. */
import { number } from "../../components/format.ts";
import type { Column } from "./layout.ts";

/** Pixels that "cutoff 0.0123456" needs. */
const wideMin = 112;

export type Head = { readonly units: string; readonly kept: string; readonly cutoff: string };

/** One heading for each column, in order. */
export function headsOf(columns: readonly Pick<Column, HeadField>[]): readonly Head[] {
  const isClose = columns.some(({ x, bracket }, index) => {
    const next = columns[index + 1];
    return next !== undefined && next.bracket === bracket && Math.abs(next.x - x) < wideMin;
  });
  return columns.map(({ units, trials, kept, cutoff, bracket }, index) => ({
    units: number(units),
    kept: trialsText(trials, columns[index + 1]?.bracket === bracket ? kept : null, isClose),
    cutoff: cutoffText(cutoff, isClose),
  }));
}

/** `kept` is null at the last rung of a bracket, where no trial has to be promoted. */
function trialsText(trials: number, kept: number | null, isClose: boolean): string {
  if (trials === 0) return "no trial";
  if (kept !== null) return `${kept} of ${trials}${isClose ? "" : " continue"}`;
  return isClose ? String(trials) : trials === 1 ? "1 trial" : `${trials} trials`;
}

type HeadField = "x" | "bracket" | "units" | "trials" | "kept" | "cutoff";

function cutoffText(cutoff: number | undefined, isClose: boolean): string {
  if (cutoff === undefined) return "";
  return isClose ? String(Number(cutoff.toPrecision(3))) : `cutoff ${number(cutoff)}`;
}
