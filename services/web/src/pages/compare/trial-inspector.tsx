import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { number } from "../../components/format.ts";
import { FactList, Inspector } from "../../components/inspector.tsx";
import { shownPairs } from "../../components/nested.ts";
import { PathLink } from "../../components/path-link.tsx";
import { experimentPath, trialPath } from "../../components/paths.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { useMayAnywhere } from "../../data/may.ts";
import type { ComparedTrial } from "./comparison.ts";
import styles from "./compare.module.css";
import { RegisterTrial } from "./register-trial.tsx";

type Props = {
  readonly trial: ComparedTrial;
  readonly onClose: () => void;
  readonly onRemove: () => void;
};

/** A trial of the comparison, and what can be done with it. */
export function TrialInspector({ trial, onClose, onRemove }: Props): JSX.Element {
  const { id, state, document, experiment } = trial;
  const [registering, setRegistering] = useState(false);
  const mayRegister = useMayAnywhere()("registerModelVersion");
  const { metric, smallerIsBetter } = experiment;
  return (
    <Inspector title={`Trial ${id}`} onClose={onClose}>
      <div className={styles["buttons"]}>
        <PathLink to={trialPath(id)}>Open trial {id}</PathLink>
        {mayRegister && (
          <Button onClick={() => setRegistering(true)}>Register as model version</Button>
        )}
        <Button onClick={onRemove}>Remove from the comparison</Button>
      </div>
      <FactList
        facts={[
          [
            "Experiment",
            <PathLink key="experiment" to={experimentPath(experiment.id)}>
              {experiment.id} {experiment.name}
            </PathLink>,
          ],
          ["State", <StateBadge key="state" state={state} restarts={document.restarts} />],
          ["Reason", document.reason],
          ["Steps", number(document.stepsCompleted)],
          [`Best ${metric}`, bestText(document.bestValue, smallerIsBetter)],
          ["Labels", experiment.labels.join(", ")],
          ["Owner", experiment.owner],
        ]}
      />
      <section>
        <h3>Hyperparameters</h3>
        <FactList facts={shownPairs(document.hyperparameters)} />
      </section>
      {registering && <RegisterTrial trial={trial} onClose={() => setRegistering(false)} />}
    </Inspector>
  );
}

const bestText = (value: number | undefined, smallerIsBetter: boolean): string =>
  value === undefined ? "" : `${number(value)} (${smallerIsBetter ? "lower" : "higher"} is better)`;
