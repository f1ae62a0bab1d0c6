import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field, TextArea } from "../../components/field.tsx";
import { type Change, labelChange } from "./labels.ts";

type Described = {
  readonly description: string;
  readonly notes: string;
  readonly labels: readonly string[];
};

type Props = {
  readonly of: Described;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly onSave: (words: { description: string; notes: string } & Change) => void;
};

/** Description, labels and notes, edited in place. */
export function Describe({ of, isPending, error, onSave }: Props): JSX.Element {
  const [description, setDescription] = useState(of.description);
  const [labels, setLabels] = useState(of.labels.join(", "));
  const [notes, setNotes] = useState(of.notes);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSave({ description, notes, ...labelChange(of.labels, labels) });
      }}
    >
      <Field
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      <Field
        label="Labels"
        hint="With commas between them."
        value={labels}
        onChange={(event) => setLabels(event.target.value)}
      />
      <TextArea
        label="Notes"
        rows={6}
        value={notes}
        onChange={(event) => setNotes(event.target.value)}
      />
      {error !== null && <ErrorNote error={error} />}
      <Button type="submit" disabled={isPending}>
        Save
      </Button>
    </form>
  );
}
