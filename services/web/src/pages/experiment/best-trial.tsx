import type { JSX } from "react";
import { number } from "../../components/format.ts";
import { shownPairs } from "../../components/nested.ts";
import { PathLink } from "../../components/path-link.tsx";
import { trialState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { trialName } from "../../components/trial-name.ts";
import { useCall } from "../../data/calls.ts";
import styles from "./overview.module.css";
import type { TabProps } from "./tabs.ts";

export function BestTrial({ experiment }: TabProps): JSX.Element {
  const { bestTrial, bestValue, metric, smallerIsBetter } = experiment;
  const { data: best } = useCall(
    "getTrial",
    { trial: bestTrial ?? "" },
    {
      enabled: bestTrial !== undefined,
      watch: { kind: "trials", experiment: experiment.id, id: bestTrial ?? "" },
    },
  );
  return (
    <section className={styles["panel"]} aria-labelledby="best-trial">
      <h2 id="best-trial">Best trial</h2>
      {bestTrial === undefined && (
        <p className={styles["note"]}>
          {experiment.trialsFailed > 0
            ? `No trial without a failure has reported ${metric}.`
            : `No trial has reported ${metric}${experiment.endedAtMs === undefined ? " yet" : ""}.`}
        </p>
      )}
      {bestTrial !== undefined && best !== undefined && (
        <>
          <p>
            <PathLink to={`/trials/${bestTrial}`}>{trialName(bestTrial)}</PathLink>{" "}
            <StateBadge state={trialState(best)} restarts={best.restarts} />
          </p>
          <p className={styles["note"]}>
            Best {metric}: {number(bestValue)} ({smallerIsBetter ? "lower" : "higher"} is better)
          </p>
          <dl className={styles["pairs"]}>
            {shownPairs(best.hyperparameters).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </section>
  );
}
