import { ApiError } from "@trainyard/client";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { changedTexts, type Edits, editsSince } from "../../components/edits.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { NotesField } from "../../components/notes-field.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import { useMay } from "../../data/may.ts";
import type { TabProps } from "./tabs.ts";
import styles from "./texts.module.css";

type Texts = { readonly notes: string };

const readOf = ({ etag, notes }: TabProps["experiment"]) => ({ etag, texts: { notes } });

/** The notes. A change that another person made since they were read is not overwritten. */
export function NotesTab({ experiment }: TabProps): JSX.Element {
  return <NotesForm key={experiment.id} experiment={experiment} />;
}

/** The experiment may change while a user writes: the form keeps the text that it read until it has saved. */
function NotesForm({ experiment }: TabProps): JSX.Element {
  const { id } = experiment;
  const [read, setRead] = useState(() => readOf(experiment));
  const [edits, setEdits] = useState<Edits<Texts>>({});
  const [isSaved, setIsSaved] = useState(false);
  const say = useSay();
  const update = useChange("updateExperiment", ["getExperiment", "listExperiments"]);
  const mayEdit = useMay()("updateExperiment", experiment);
  const isConflict = update.error instanceof ApiError && update.error.problem.status === 412;
  const sent = changedTexts(read.texts, edits);
  const isUnchanged = Object.keys(sent).length === 0;
  const { notes } = { ...read.texts, ...edits };
  const edit = (change: Edits<Texts>): void => setEdits((old) => ({ ...old, ...change }));
  if (isSaved && experiment.etag !== read.etag) {
    setRead(readOf(experiment));
    setIsSaved(false);
  }
  const save = () =>
    update.mutate(
      { request: { experiment: id, ...sent }, ifMatch: read.etag },
      {
        onSuccess: () => {
          setIsSaved(true);
          setEdits((now) => editsSince(now, sent));
          say.done(`Saved the notes of experiment ${id}.`);
        },
      },
    );
  const readAgain = (): void => {
    setRead(readOf(experiment));
    update.reset();
  };
  return (
    <form
      className={styles["column"]}
      onSubmit={(event) => {
        event.preventDefault();
        if (!update.isPending && !isUnchanged) save();
      }}
    >
      <NotesField
        value={notes}
        rows={16}
        fixed={!mayEdit}
        onChange={(text) => edit({ notes: text })}
      />
      {update.error !== null && <ErrorNote error={update.error} />}
      {mayEdit && (
        <div className={styles["buttons"]}>
          <Button type="submit" look="primary" disabled={update.isPending || isUnchanged}>
            Save
          </Button>
          {isConflict && <Button onClick={readAgain}>Read again and keep my text</Button>}
        </div>
      )}
    </form>
  );
}
