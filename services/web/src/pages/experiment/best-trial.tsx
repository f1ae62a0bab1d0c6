import type { JSX } from "react";
import { PathLink } from "../../app/path-link.tsx";
import { trialNumberOf } from "../../components/chart/line.ts";
import { number } from "../../components/format.ts";
import { shownPairs } from "../../components/nested.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { trialState } from "../../components/state.ts";
import styles from "./overview.module.css";
import type { Experiment } from "./tabs.ts";
import type { Trial } from "./use-trials.ts";

type Props = { readonly experiment: Experiment; readonly trials: readonly Trial[] };

export function BestTrial({ experiment, trials }: Props): JSX.Element {
  const { bestTrial, bestValue, metric, smallerIsBetter } = experiment;
  const best = trials.find(({ id }) => id === bestTrial);
  return (
    <section className={styles["panel"]} aria-labelledby="best-trial">
      <h2 id="best-trial">Best trial</h2>
      {bestTrial === undefined || best === undefined ? (
        <p className={styles["note"]}>No trial has reported {metric} yet.</p>
      ) : (
        <>
          <p>
            <PathLink to={`/trials/${bestTrial}`}>Trial {trialNumberOf(bestTrial)}</PathLink>{" "}
            <StateBadge state={trialState(best)} restarts={best.restarts} />
          </p>
          <p className={styles["note"]}>
            The {smallerIsBetter ? "smallest" : "largest"} {metric}: {number(bestValue)}
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
