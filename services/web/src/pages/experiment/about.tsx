import type { JSX } from "react";
import { EditInPlace } from "../../components/edit-in-place.tsx";
import { areText } from "../../components/labels.ts";
import { useMay } from "../../data/may.ts";
import styles from "./about.module.css";
import type { Experiment } from "./tabs.ts";
import type { Edited } from "./verbs-of.ts";

type Props = {
  readonly experiment: Experiment;
  readonly edited: Edited | null;
  readonly onEdit: (edited: Edited | null) => void;
  readonly save: (field: Edited, text: string) => Promise<unknown>;
  readonly onMove: () => void;
};

/** The description, labels, owner and place of an experiment, edited where they are shown. */
export function About({ experiment, edited, onEdit, save, onMove }: Props): JSX.Element {
  const { id, description, labels, owner, workspace, project } = experiment;
  const may = useMay();
  const place = `${workspace} / ${project}`;
  const editOf = (field: Edited) => ({
    label: `${field} of experiment ${id}`,
    fixed: !may("updateExperiment", experiment),
    editing: edited === field,
    onEdit: (editing: boolean) => onEdit(editing ? field : null),
    save: (text: string) => save(field, text),
  });
  return (
    <div className={styles["about"]}>
      <EditInPlace {...editOf("description")} text={description}>
        {description === "" ? (
          <span className={styles["muted"]}>No description</span>
        ) : (
          <span>{description}</span>
        )}
      </EditInPlace>
      <EditInPlace
        {...editOf("labels")}
        text={labels.join(", ")}
        hint={areText(labels) ? "Labels, separated by commas." : commaSentence}
      >
        {labels.length === 0 && <span className={styles["muted"]}>No labels</span>}
        {labels.map((label) => (
          <span key={label} className={styles["label"]}>
            {label}
          </span>
        ))}
      </EditInPlace>
      <span>
        <span className={styles["muted"]}>owner</span> {owner}
      </span>
      <span>
        <span className={styles["muted"]}>in</span>{" "}
        {may("moveExperiments", experiment) ? (
          <button type="button" className={styles["place"]} title="Move it" onClick={onMove}>
            {place}
          </button>
        ) : (
          place
        )}
      </span>
    </div>
  );
}

export const commaSentence =
  "A label of this experiment has a comma in it: edit the labels with yard or Python.";
