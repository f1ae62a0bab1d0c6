import type { JSX } from "react";
import { number, percent, time } from "../../components/format.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { experimentState } from "../../components/state.ts";
import styles from "./page.module.css";
import type { Experiment } from "./tabs.ts";

/** The line that says what an experiment is and how far it has come. */
export function Header({ experiment }: { readonly experiment: Experiment }): JSX.Element {
  const { id, name, progress, reason, waitsFor, searcher, metric, bestValue } = experiment;
  const { trials, trialsCompleted, trialsFailed, endedAtMs, createdAtMs } = experiment;
  return (
    <header className={styles["header"]}>
      <div className={styles["names"]}>
        <span className={styles["id"]}>{id}</span>
        <h1>{name}</h1>
        <StateBadge state={experimentState(experiment)} title={reason} />
        {endedAtMs === undefined && (
          <progress className={styles["progress"]} max={1} value={progress} aria-label="Progress">
            {percent(progress)}
          </progress>
        )}
        {endedAtMs === undefined && <span className={styles["muted"]}>{percent(progress)}</span>}
      </div>
      <dl className={styles["facts"]}>
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
          {reason}
          {waitsFor !== "" && `The search waits for ${waitsFor}.`}
        </p>
      )}
    </header>
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
