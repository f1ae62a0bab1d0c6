import type { JSX } from "react";
import { number, percent, time } from "../../components/format.ts";
import { Reason } from "../../components/reason.tsx";
import styles from "./page.module.css";
import type { Experiment } from "./tabs.ts";

/** The line that describes an experiment and its progress. */
export function Facts({ experiment }: { readonly experiment: Experiment }): JSX.Element {
  const { progress, reason, waitsFor, searcher, metric, bestValue } = experiment;
  const { trials, trialsCompleted, trialsFailed, endedAtMs, createdAtMs } = experiment;
  return (
    <div className={styles["summary"]}>
      <dl className={styles["facts"]}>
        {endedAtMs === undefined && (
          <Fact name="progress">
            <progress
              className={styles["progress"]}
              max={1}
              value={progress}
              aria-label="Progress"
            />{" "}
            {percent(progress)}
          </Fact>
        )}
        <Fact name="searcher">{searcher}</Fact>
        <Fact name="trials">
          {trialsCompleted} of {trials}
          {trialsFailed > 0 && `, ${trialsFailed} failed`}
        </Fact>
        <Fact name={`best ${metric}`}>
          {bestValue === undefined ? "none yet" : number(bestValue)}
        </Fact>
        <Fact name="created">{time(createdAtMs)}</Fact>
        {endedAtMs !== undefined && <Fact name="ended">{time(endedAtMs)}</Fact>}
      </dl>
      {(reason !== "" || waitsFor !== "") && (
        <p className={styles["muted"]}>
          <Reason text={reason} experiment={experiment.id} />
          {waitsFor !== "" && `The search waits for ${waitsFor}.`}
        </p>
      )}
    </div>
  );
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: React.ReactNode;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
