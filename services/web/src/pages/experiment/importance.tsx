import type { JSX } from "react";
import { ErrorNote } from "../../components/error-note.tsx";
import { PlainTable } from "../../components/plain-table.tsx";
import { useCall } from "../../data/calls.ts";
import styles from "./overview.module.css";
import type { TabProps } from "./tabs.ts";
import { useReadAgain } from "./use-read-again.ts";

/** The importance of each hyperparameter for being among the best trials, once enough trials have reported. */
export function Importance({ experiment }: TabProps): JSX.Element {
  const answer = useCall("getImportance", { experiment: experiment.id });
  useReadAgain(experiment, answer.refetch);
  return (
    <section className={styles["panel"]} aria-labelledby="importance">
      <h2 id="importance">Importance of hyperparameters</h2>
      {answer.error !== null && (
        <ErrorNote error={answer.error} onRetry={() => void answer.refetch()} />
      )}
      {answer.data !== undefined && <Bars {...answer.data} />}
    </section>
  );
}

type Props = {
  readonly trials: number;
  readonly trialsNeeded: number;
  readonly trialsBest: number;
  readonly items: readonly { readonly hyperparameter: string; readonly importance: number }[];
};

function Bars({ trials, trialsNeeded, trialsBest, items }: Props): JSX.Element {
  if (trials < trialsNeeded) {
    return (
      <p className={styles["note"]}>
        Too few trials to say: {trials} of at least {trialsNeeded} that are needed have a value.
      </p>
    );
  }
  if (items.length === 0) {
    return <p className={styles["note"]}>No hyperparameter of this experiment is searched.</p>;
  }
  return (
    <>
      <PlainTable
        caption="Importance of hyperparameters"
        headHidden
        rows={items}
        keyOf={({ hyperparameter }) => hyperparameter}
        columns={[
          { title: "Hyperparameter", cell: ({ hyperparameter }) => hyperparameter },
          { title: "Importance", numeric: true, cell: ({ importance }) => importance.toFixed(3) },
          {
            title: "Bar",
            cell: ({ importance }) => (
              <span className={styles["bars"]}>
                <span className={styles["bar"]} style={{ width: `${importance * 100}%` }} />
              </span>
            ),
          },
        ]}
      />
      <p className={styles["note"]}>
        The shares add up to 1: a hyperparameter has a large one where the best {trialsBest} of{" "}
        {trials} trials have other values of it than all of them (PED-ANOVA).
      </p>
    </>
  );
}
