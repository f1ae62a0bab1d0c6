import { time as timeText } from "../format.ts";

/** Formats a position on the x axis: a time, or a number of at most seven digits. */
export function shownX(x: number, time: boolean): string {
  if (time) return timeText(x);
  return Number(x.toPrecision(7)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}
