import type { Plain } from "@trainyard/contracts";
import type { Experiment } from "@trainyard/contracts/api";
import type { JSX } from "react";
import { useNow } from "../data/clock.ts";
import { percent } from "./format.ts";
import styles from "./progress.module.css";
import { leftOf } from "./times.ts";

type Shown = Pick<Plain<Experiment>, "progress" | "state" | "estimatedEndAtMs">;

/** A bar in the colour of the state, and the percent: of a failed experiment, the progress at which it ended. */
export function ProgressBar({
  of: { progress, state },
  wide = false,
}: {
  readonly of: Shown;
  readonly wide?: boolean;
}): JSX.Element {
  return (
    <span className={styles["progress"]} data-state={state} data-wide={wide}>
      <progress value={progress} max={1} aria-label="Progress" />
      {percent(progress)}
    </span>
  );
}

/** Shows "about 4m left"; nothing without an estimate. */
export function TimeLeft({ of }: { readonly of: Shown }): JSX.Element | null {
  const left = leftOf(of, useNow());
  return left === "" ? null : <span className={styles["left"]}>about {left} left</span>;
}
