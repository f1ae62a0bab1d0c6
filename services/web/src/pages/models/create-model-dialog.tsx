import { type JSX, useId, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { useChange } from "../../data/calls.ts";

type Props = { readonly onClose: () => void; readonly onCreated: (model: string) => void };

export function CreateModelDialog({ onClose, onCreated }: Props): JSX.Element {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const form = useId();
  const create = useChange("createModel", ["listModels"]);
  const submit = () =>
    create.mutate(
      { request: { name: name.trim(), description } },
      { onSuccess: ({ model }) => onCreated(model?.name ?? name.trim()) },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title="New model"
      description="Versions are added from a checkpoint's page, or by yard model register."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            type="submit"
            form={form}
            disabled={name.trim() === "" || create.isPending}
          >
            Create
          </Button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field
          label="Name"
          hint="A letter or digit, then up to 62 letters, digits, dots, dashes and underscores."
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label="Description"
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </form>
      {create.error !== null && <ErrorNote error={create.error} />}
    </Dialog>
  );
}
