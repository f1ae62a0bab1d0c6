import type { JSX } from "react";
import { waitOf } from "../../components/state.ts";
import { positionText } from "./position-text.ts";
import styles from "./trial.module.css";
import type { ShownTrial } from "./trial.ts";

/** The line below the header: why the trial is queued, or the position that it has reported. */
export function Position({ trial }: { readonly trial: ShownTrial }): JSX.Element {
  const waits = trial.endedAtMs === undefined ? waitOf(trial) : "";
  const parts = [waits === "" ? "" : `It is queued: ${waits}.`, positionText(trial)];
  return <p className={styles["position"]}>{parts.filter((part) => part !== "").join(" ")}</p>;
}
