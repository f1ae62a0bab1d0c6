import { type JSX, useState } from "react";
import { useChange } from "../../app/calls.ts";
import { useSay } from "../../app/toasts.tsx";
import { Button } from "../../components/button.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field, TextArea } from "../../components/field.tsx";
import type { TabProps } from "./tabs.ts";
import styles from "./texts.module.css";

/** Name, description and notes. A change that somebody made since they were read is not overwritten. */
export function NotesTab({ experiment }: TabProps): JSX.Element {
  return <NotesForm key={experiment.etag} experiment={experiment} />;
}

function NotesForm({ experiment }: TabProps): JSX.Element {
  const { id, etag } = experiment;
  const [name, setName] = useState(experiment.name);
  const [description, setDescription] = useState(experiment.description);
  const [notes, setNotes] = useState(experiment.notes);
  const say = useSay();
  const update = useChange("updateExperiment", ["getExperiment", "listExperiments"]);
  const save = () =>
    update.mutate(
      { request: { experiment: id, name, description, notes }, ifMatch: etag },
      { onSuccess: () => say.done(`Saved the notes of experiment ${id}.`) },
    );
  return (
    <form
      className={styles["column"]}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <Field label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <Field
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      <TextArea
        label="Notes"
        rows={16}
        value={notes}
        onChange={(event) => setNotes(event.target.value)}
      />
      {update.error !== null && <ErrorNote error={update.error} />}
      <div className={styles["buttons"]}>
        <Button type="submit" look="primary" disabled={update.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}
