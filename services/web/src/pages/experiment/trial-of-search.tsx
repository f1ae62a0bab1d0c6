import type { JSX } from "react";
import { neighboursOf } from "../../canvas/search-view/explain.ts";
import { numberOf, type Picture, type PictureDecision } from "../../canvas/search-view/layout.ts";
import { Button } from "../../components/button.tsx";
import { number } from "../../components/format.ts";
import { FactList, Inspector } from "../../components/inspector.tsx";
import { PathLink } from "../../components/path-link.tsx";
import { PlainTable } from "../../components/plain-table.tsx";
import { trialName } from "../../components/trial-name.ts";
import styles from "./search.module.css";
import type { HyperparametersOf } from "./use-hyperparameters.ts";

type Props = {
  readonly experiment: string;
  readonly picture: Picture;
  readonly trial: number;
  readonly hyperparametersOf: HyperparametersOf;
  readonly onChoose: (trial: number | null) => void;
  readonly onVersion: (version: number) => void;
};

/** The search's decisions about one trial, with their evidence. */
export function TrialOfSearch({
  experiment,
  picture,
  trial,
  hyperparametersOf,
  onChoose,
  onVersion,
}: Props): JSX.Element {
  const found = picture.trials.find((one) => numberOf(one.trial) === trial);
  const link = `/trials/${experiment}.${trial}`;
  return (
    <Inspector title={trialName(trial)} onClose={() => onChoose(null)}>
      {found === undefined ? (
        <p className={styles["note"]}>
          At this decision the search had not proposed the trial yet.
        </p>
      ) : (
        <>
          <p>
            {found.state.replaceAll("_", " ")} at {number(found.time)}
            {found.best !== undefined && `, best ${picture.metric} ${number(found.best)}`}
            {found.startFromTrial !== undefined &&
              `, continues ${trialName(found.startFromTrial)} from ${number(found.startFromTime)}`}
          </p>
          <p>
            <PathLink to={link}>Open the trial</PathLink>,{" "}
            <PathLink to={`${link}?tab=validations`}>its reports</PathLink>
          </p>
          <FactList
            facts={hyperparametersOf(found).map(({ name, value, before }) => [
              name,
              before === null ? value : `${before} → ${value}`,
            ])}
          />
          {found.decisions.length === 0 && (
            <p className={styles["note"]}>The search has not decided about the trial yet.</p>
          )}
          {found.decisionsLeftOut > 0 && (
            <p className={styles["note"]}>
              {found.decisionsLeftOut} earlier decisions are left out.
            </p>
          )}
          <ol className={styles["decisions"]}>
            {found.decisions.toReversed().map((decision) => (
              <li key={`${decision.at?.version} ${decision.event}`}>
                <Decision {...{ decision, onChoose, onVersion }} />
              </li>
            ))}
          </ol>
        </>
      )}
    </Inspector>
  );
}

function Decision({
  decision,
  onChoose,
  onVersion,
}: Pick<Props, "onChoose" | "onVersion"> & { readonly decision: PictureDecision }): JSX.Element {
  const { verb, sentence, at } = decision;
  const neighbours = neighboursOf(decision);
  return (
    <>
      <h3>{verb}</h3>
      {sentence !== "" && <p>{sentence}</p>}
      {neighbours.length > 0 && (
        <PlainTable
          caption="Compared with"
          captionShown
          headHidden
          rows={neighbours}
          keyOf={({ trial }) => trial}
          columns={[
            {
              title: "Trial",
              cell: ({ trial }) => (
                <Button look="link" onClick={() => onChoose(trial)}>
                  {trialName(trial)}
                </Button>
              ),
            },
            { title: "Value", numeric: true, cell: ({ value }) => number(value) },
          ]}
        />
      )}
      {at !== undefined && (
        <Button look="link" onClick={() => onVersion(at.version)}>
          Show the search at this decision
        </Button>
      )}
    </>
  );
}
