import type { UnaryName } from "@trainyard/contracts";
import { type JSX, type ReactNode, useState } from "react";
import { useChange } from "../../data/calls.ts";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Field } from "../field.tsx";
import { useSay } from "../toasts.tsx";

type Props = {
  readonly checkpoint: string;
  readonly onClose: () => void;
  /** Above the fields: the choice of the checkpoint, where there are several. */
  readonly children?: ReactNode;
};

const refresh: readonly UnaryName[] = [
  "getCheckpoint",
  "explainCheckpoint",
  "listCheckpoints",
  "previewRetention",
  "listModels",
  "getModel",
  "listModelVersions",
];

/** Registers a checkpoint as the next version of a model. */
export function RegisterDialog({ checkpoint, onClose, children }: Props): JSX.Element {
  const [model, setModel] = useState("");
  const [description, setDescription] = useState("");
  const say = useSay();
  const register = useChange("registerModelVersion", refresh);
  const submit = () =>
    register.mutate(
      { request: { model: model.trim(), checkpoint, description, createModel: true } },
      {
        onSuccess: ({ version }) => {
          say.done(`Registered version ${version?.number ?? ""} of ${model.trim()}.`);
          onClose();
        },
      },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Register checkpoint ${checkpoint.slice(0, 8)}`.trimEnd()}
      description="It becomes the next version of a model, which pins it. A model that does not exist is created."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={model.trim() === "" || checkpoint === "" || register.isPending}
            onClick={submit}
          >
            Register
          </Button>
        </>
      }
    >
      {children}
      <Field label="Model" value={model} onChange={(event) => setModel(event.target.value)} />
      <Field
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      {register.error !== null && <ErrorNote error={register.error} />}
    </Dialog>
  );
}
