import type { JSX } from "react";
import { StateBadge } from "../../components/state-badge.tsx";
import type { ComparedTrial } from "./comparison.ts";
import styles from "./compare.module.css";
import { TrialSwatch } from "./swatch.tsx";

type Props = { readonly trial: ComparedTrial; readonly onChoose: (trial: string) => void };

/** A trial of the table, with the hue of its line; a click shows it in the inspector. */
export function TrialButton({ trial, onChoose }: Props): JSX.Element {
  const { id, look, state, document, experiment } = trial;
  return (
    <span className={styles["trial"]}>
      <button
        type="button"
        className={styles["name"]}
        title={`${id} of ${experiment.name}`}
        onClick={() => onChoose(id)}
      >
        <TrialSwatch look={look} /> {id}
      </button>
      <StateBadge state={state} restarts={document.restarts} />
    </span>
  );
}
