import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { changedTexts, type Edits, editsSince } from "../../components/edits.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { areText, type LabelChange, labelChange } from "../../components/labels.ts";
import { NotesField } from "../../components/notes-field.tsx";
import styles from "./page.module.css";

type Described = {
  readonly description: string;
  readonly notes: string;
  readonly labels: readonly string[];
};

type Texts = { readonly description: string; readonly notes: string };

type Props = {
  readonly of: Described;
  /** The caller may not change the model. */
  readonly fixed: boolean;
  readonly isPending: boolean;
  readonly error: unknown;
  /** Saves the changes; calls back when they are saved. */
  readonly onSave: (change: Edits<Texts> & Partial<LabelChange>, saved: () => void) => void;
};

/** Description, labels and notes, edited in place. Only texts that were changed here are sent. */
export function Describe({ of, fixed, isPending, error, onSave }: Props): JSX.Element {
  const [edits, setEdits] = useState<Edits<Texts>>({});
  const [labels, setLabels] = useState<LabelEdit | null>(null);
  const { description, notes } = { description: of.description, notes: of.notes, ...edits };
  const edit = (change: Edits<Texts>): void => setEdits((old) => ({ ...old, ...change }));
  const save = (): void => {
    const sent = changedTexts({ description: of.description, notes: of.notes }, edits);
    const change = labelChange(labels?.before ?? [], labels?.text ?? "");
    onSave({ ...sent, ...change }, () => {
      setEdits((now) => editsSince(now, edits));
      setLabels((now) => (now === labels ? null : now));
    });
  };
  return (
    <form
      className={styles["describe"]}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isPending) save();
      }}
    >
      <Field
        label="Description"
        readOnly={fixed}
        value={description}
        onChange={({ target }) => edit({ description: target.value })}
      />
      <Field
        label="Labels"
        hint={
          areText(of.labels)
            ? "Labels, separated by commas."
            : "A label has a comma in it: edit the labels with yard or Python."
        }
        readOnly={fixed || !areText(of.labels)}
        value={labels?.text ?? of.labels.join(", ")}
        onChange={({ target }) =>
          setLabels({ before: labels?.before ?? of.labels, text: target.value })
        }
      />
      <NotesField value={notes} rows={6} fixed={fixed} onChange={(text) => edit({ notes: text })} />
      {error !== null && <ErrorNote error={error} />}
      {!fixed && (
        <Button type="submit" disabled={isPending}>
          Save
        </Button>
      )}
    </form>
  );
}

/** The edited text of the labels, and the labels when the editing began. */
type LabelEdit = { readonly before: readonly string[]; readonly text: string };
