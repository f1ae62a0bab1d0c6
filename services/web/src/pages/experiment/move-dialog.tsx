import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Choice } from "../../components/field.tsx";
import { useCall, useChange } from "../../data/calls.ts";
import { useWorkspacesFor } from "../../data/workspaces.ts";
import type { Experiment } from "./tabs.ts";

type Props = { readonly experiment: Experiment; readonly onClose: () => void };

/** Moves the experiment to another project. */
export function MoveDialog({ experiment: { id, ...from }, onClose }: Props): JSX.Element {
  const [workspace, setWorkspace] = useState(from.workspace);
  const [project, setProject] = useState(from.project);
  const workspaces = useWorkspacesFor("createExperiment");
  const projects = useCall("listProjects", { workspace, pageSize: 200 });
  const move = useChange("moveExperiments", ["getExperiment", "listExperiments"]);
  const [refused, setRefused] = useState("");
  const isSame = workspace === from.workspace && project === from.project;
  const submit = (): void => {
    if (isSame || move.isPending) return;
    move.mutate(
      { request: { experiments: [id], workspace, project } },
      {
        onSuccess: ({ items: [item] }) => {
          if (item?.outcome === "refused") setRefused(item.detail);
          else onClose();
        },
      },
    );
  };
  return (
    <Dialog
      open
      onClose={onClose}
      onSubmit={submit}
      title={`Move experiment ${id}`}
      description="Runs that are requested later count for the quota of the new workspace."
      actions={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button look="primary" disabled={isSame || move.isPending} onClick={submit}>
            Move
          </Button>
        </>
      }
    >
      <Choice
        label="Workspace"
        value={workspace}
        onChange={({ target }) => {
          setWorkspace(target.value);
          setProject(target.value === from.workspace ? from.project : "default");
        }}
      >
        <Names known={workspaces} chosen={workspace} />
      </Choice>
      <Choice label="Project" value={project} onChange={({ target }) => setProject(target.value)}>
        <Names known={projects.data?.items.map(({ name }) => name)} chosen={project} />
      </Choice>
      {move.error !== null && <ErrorNote error={move.error} />}
      {refused !== "" && <ErrorNote error={new Error(refused)} />}
    </Dialog>
  );
}

type NamesProps = {
  readonly known: readonly string[] | undefined;
  readonly chosen: string;
};

/** The chosen name is an option also while the others are read. */
function Names({ known = [], chosen }: NamesProps): JSX.Element {
  const names = [...new Set([...known, chosen])];
  return (
    <>
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </>
  );
}
