import { useNavigate } from "@tanstack/react-router";
import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Choice, Field } from "../../components/field.tsx";
import { counted } from "../../components/format.ts";
import { useCall, useChange } from "../../data/calls.ts";
import { firstWorkspace } from "../../data/first-workspace.ts";
import { useWorkspacesFor } from "../../data/workspaces.ts";
import { emptyForm, type NotebookForm, notebookRequest, slotsFault } from "./notebook-request.ts";
import styles from "./page.module.css";

/** The form that starts a notebook; its page appears, and has "Open" once its server answers. */
export function NotebookDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [typed, setForm] = useState(emptyForm);
  const workspaces = useWorkspacesFor("createTask") ?? [];
  const form = { ...typed, workspace: typed.workspace || firstWorkspace(workspaces) };
  const start = useChange("createTask", ["listTasks"]);
  const navigate = useNavigate();
  const fault = slotsFault(form);
  const submit = (): void => {
    if (fault !== undefined || start.isPending) return;
    start.mutate(
      { request: notebookRequest(form) },
      {
        onSuccess: ({ task }) => {
          onClose();
          if (task === undefined) return;
          void navigate({ to: "/tasks/$task", params: { task: task.id }, search: {} });
        },
      },
    );
  };
  return (
    <Dialog
      open
      onClose={onClose}
      onSubmit={submit}
      title="Start a notebook"
      description="JupyterLab on the cluster. Its files are saved, and it can be paused and resumed."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={fault !== undefined || start.isPending} onClick={submit}>
            Start
          </Button>
        </>
      }
    >
      <Fields form={form} workspaces={workspaces} fault={fault} onChange={setForm} />
      {start.error !== null && <ErrorNote error={start.error} />}
    </Dialog>
  );
}

type FieldsProps = {
  readonly form: NotebookForm;
  readonly workspaces: readonly string[];
  readonly fault: string | undefined;
  readonly onChange: (form: NotebookForm) => void;
};

function Fields({ form, workspaces, fault, onChange }: FieldsProps): JSX.Element {
  const of = (key: keyof NotebookForm) => ({
    value: form[key],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange({ ...form, [key]: target.value }),
  });
  return (
    <>
      <Field label="Name" placeholder="notebook" {...of("name")} />
      {workspaces.length > 1 && (
        <Choice label="Workspace" {...of("workspace")}>
          {workspaces.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Choice>
      )}
      <div className={styles["pair"]}>
        <PoolChoice {...of("pool")} />
        <Field
          label="Slots"
          hint="Of one agent; 0 for none."
          error={fault}
          inputMode="numeric"
          {...of("slots")}
        />
      </div>
      <Field label="Image" hint="Only on agents that run containers." {...of("image")} />
      <Field
        label="Folder"
        hint="Where it starts, below its own folder; empty for its own. A folder elsewhere is not saved."
        {...of("folder")}
      />
    </>
  );
}

type ChoiceProps = {
  readonly value: string;
  readonly onChange: (event: { readonly target: { readonly value: string } }) => void;
};

/** A pool is read once: the numbers of its slots are those at the time the form opened. */
function PoolChoice({ value, onChange }: ChoiceProps): JSX.Element {
  const pools = useCall("listPools", {}, { fresh: true });
  const items = pools.data?.items ?? [];
  return (
    <Choice
      label="Pool"
      {...(pools.error === null ? {} : { error: "The pools cannot be read." })}
      value={value}
      onChange={onChange}
    >
      <option value="">The default</option>
      {items.map((pool) => (
        <option key={pool.name} value={pool.name}>
          {pool.name}, {freeText(pool)}
        </option>
      ))}
    </Choice>
  );
}

const freeText = ({ slots, slotsFree }: ReplyOf<"listPools">["items"][number]): string =>
  slots === 0 ? "no slots" : `${slotsFree} of ${counted(slots, "slot")} free`;
