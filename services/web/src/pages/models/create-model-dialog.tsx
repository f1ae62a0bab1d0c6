import { type JSX, useId, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Choice, Field } from "../../components/field.tsx";
import { useChange } from "../../data/calls.ts";
import { firstWorkspace } from "../../data/first-workspace.ts";
import { useWorkspacesFor } from "../../data/workspaces.ts";

type Props = { readonly onClose: () => void; readonly onCreated: (model: string) => void };

export function CreateModelDialog({ onClose, onCreated }: Props): JSX.Element {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const workspaces = useWorkspacesFor("createModel") ?? [];
  const [chosen, setWorkspace] = useState("");
  const workspace = chosen || firstWorkspace(workspaces);
  const form = useId();
  const create = useChange("createModel", ["listModels"]);
  const submit = () =>
    create.mutate(
      { request: { name: name.trim(), description, workspace } },
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
        {workspaces.length > 1 && (
          <Choice
            label="Workspace"
            value={workspace}
            onChange={(event) => setWorkspace(event.target.value)}
          >
            {workspaces.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </Choice>
        )}
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
