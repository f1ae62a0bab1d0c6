import type { JSX } from "react";
import { number, percent } from "../../components/format.ts";
import { waitOf } from "../../components/state.ts";
import { elapsedOf, leftOf, ranOf } from "../../components/times.ts";
import { useNow } from "../../data/clock.ts";
import { positionText } from "./position-text.ts";
import styles from "./trial.module.css";
import type { ShownTrial } from "./trial.ts";

/** The line below the header: why the trial is queued, how far it is, and the time that it took. */
export function Position({ trial }: { readonly trial: ShownTrial }): JSX.Element {
  const nowMs = useNow();
  const waits = trial.endedAtMs === undefined ? waitOf(trial) : "";
  return (
    <p className={styles["position"]}>
      {waits !== "" && <span>It is queued: {waits}.</span>}
      <span>{summaryOf(trial, nowMs)}</span>
    </p>
  );
}

function summaryOf(trial: ShownTrial, nowMs: number): string {
  const { stepsCompleted, endedAtMs, progress, bestValue } = trial;
  const left = leftOf(trial, nowMs);
  const parts = [
    `${number(stepsCompleted)} steps`,
    positionText(trial),
    percent(progress),
    left === "" ? "" : `about ${left} left`,
    `${endedAtMs === undefined ? "has run" : "took"} ${ranOf(trial, nowMs)}`,
    `elapsed ${elapsedOf(trial, nowMs)}`,
    bestValue === undefined ? "" : `best ${number(bestValue)}`,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
