/** Shows the progress of experiments and trials, the time that they took, and about how long they still take. */
import type { Plain } from "@trainyard/contracts";
import type { Experiment } from "@trainyard/contracts/api";
import { durationText } from "./output.ts";

type Shown = Pick<
  Plain<Experiment>,
  "progress" | "createdAtMs" | "endedAtMs" | "ranMs" | "runningSinceMs" | "estimatedEndAtMs"
>;

/** Formats a share from 0 to 1 as "37%"; 100% only for 1. */
export function percentText(share: number): string {
  return `${Math.min(100, Math.max(0, Math.floor(share * 100 + 1e-9)))}%`;
}

/** Formats the rest as "4m"; empty if it is unknown, or if the estimate is over. */
export function leftText({ estimatedEndAtMs }: Shown, nowMs: number): string {
  const left = (estimatedEndAtMs ?? 0) - nowMs;
  return left <= 0 ? "" : roughText(left);
}

export function progressText(shown: Shown, nowMs: number): string {
  const left = leftText(shown, nowMs);
  return `${percentText(shown.progress)}${left === "" ? "" : `, about ${left} left`}`;
}

/** Formats the elapsed time, and the time in which a run trained, as "12m 3s, ran 8m 40s". */
export function timesText(shown: Shown, nowMs: number): string {
  const { createdAtMs, endedAtMs = nowMs } = shown;
  return `${durationText(Math.max(0, endedAtMs - createdAtMs))}, ran ${ranText(shown, nowMs)}`;
}

export function ranText({ ranMs, runningSinceMs }: Shown, nowMs: number): string {
  const ran = ranMs + (runningSinceMs === undefined ? 0 : Math.max(0, nowMs - runningSinceMs));
  return durationText(ran);
}

/** An estimate has one unit: the seconds of an hour are no information. */
function roughText(ms: number): string {
  return durationText(ms).split(" ", 1)[0] ?? "";
}
