import type { JSX, ReactNode } from "react";
import { count, number, time } from "../../components/format.ts";
import { ProgressBar } from "../../components/progress.tsx";
import { Reason } from "../../components/reason.tsx";
import { SkeletonLine } from "../../components/skeleton.tsx";
import { elapsedOf, leftOf, ranOf } from "../../components/times.ts";
import { Warning } from "../../components/warning.tsx";
import { useNow } from "../../data/clock.ts";
import { FailedTrials } from "./failed-trials.tsx";
import styles from "./page.module.css";
import type { Experiment } from "./tabs.ts";
import { useQueueReason } from "./use-queue-reason.ts";

type Props = {
  readonly experiment: Experiment;
  /** The line above: what the experiment is. */
  readonly children: ReactNode;
};

/** The line that describes an experiment and its progress. */
export function Facts({ experiment, children }: Props): JSX.Element {
  const { reason, waitsFor, searcher, metric, bestValue } = experiment;
  const { trials, trialsCompleted, endedAtMs, createdAtMs } = experiment;
  const nowMs = useNow(1_000);
  const waits = useQueueReason(experiment);
  const left = leftOf(experiment, nowMs);
  return (
    <div className={styles["summary"]}>
      {children}
      <dl className={styles["facts"]}>
        <Fact name="progress">
          <ProgressBar of={experiment} wide />
        </Fact>
        {left !== "" && <Fact name="left">about {left}</Fact>}
        <Fact name="searcher">{searcher}</Fact>
        <Fact name="trials">
          {count(trialsCompleted)} of {count(trials)}
          <FailedTrials experiment={experiment} />
        </Fact>
        <Fact name={`best ${metric}`}>
          {bestValue === undefined
            ? `none${endedAtMs === undefined ? " yet" : ""}`
            : number(bestValue)}
        </Fact>
        <Fact name="created">{time(createdAtMs)}</Fact>
        {endedAtMs !== undefined && <Fact name="ended">{time(endedAtMs)}</Fact>}
        <Fact name="elapsed">{elapsedOf(experiment, nowMs)}</Fact>
        <Fact name="ran">{ranOf(experiment, nowMs)}</Fact>
      </dl>
      <div className={styles["said"]}>
        <Warning text={experiment.warning} />
        <p className={styles["muted"]}>
          <Reason text={reason} experiment={experiment.id} />
          {waitsFor !== "" && `The search waits for ${waitsFor}.`}
          {waits !== "" && `It is queued: ${waits}.`}
        </p>
      </div>
    </div>
  );
}

/** The lines of the facts while they are read. */
export function FactsLoading(): JSX.Element {
  return (
    <div className={styles["summary"]}>
      <SkeletonLine height={24} width="40%" />
      <div className={styles["facts"]}>
        <SkeletonLine height={20} width="70%" />
      </div>
      <div className={styles["said"]}>
        <SkeletonLine height={20} width="24%" />
      </div>
    </div>
  );
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ReactNode;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
