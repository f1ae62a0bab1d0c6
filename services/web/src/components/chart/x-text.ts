import { count, time as timeText } from "../format.ts";

/** Made once: a new format costs as much as drawing the chart. */
const written = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });

/** Formats a position on the x axis: a time, or a number of at most seven digits. */
export function shownX(x: number, time: boolean): string {
  if (time) return timeText(x);
  return Number.isSafeInteger(x) && Math.abs(x) < 1e7
    ? count(x)
    : written.format(Number(x.toPrecision(7)));
}
