import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Choice } from "../../components/field.tsx";
import { useCall, useChange } from "../../data/calls.ts";
import { firstWorkspace } from "../../data/first-workspace.ts";
import { useWorkspacesFor } from "../../data/workspaces.ts";
import { experiments, summaryOf } from "./outcomes.ts";
import { Preview } from "./preview.tsx";
import { useOutcome } from "./use-outcome.ts";

type Props = {
  readonly ids: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
};

export function MoveDialog({ ids: selected, onClose, onDone }: Props): JSX.Element {
  const [ids] = useState(selected);
  const workspaces = useWorkspacesFor("createExperiment");
  const [chosen, setWorkspace] = useState("");
  const workspace = chosen || firstWorkspace(workspaces ?? []);
  const [project, setProject] = useState("default");
  const tell = useOutcome(`moved to ${workspace}/${project}`, onDone);
  const enabled = workspaces !== undefined;
  const projects = useCall("listProjects", { workspace, pageSize: 200 }, { enabled });
  const request = { experiments: [...ids], workspace, project };
  const preview = useCall(
    "moveExperiments",
    { ...request, dryRun: true },
    { fresh: true, enabled },
  );
  const move = useChange("moveExperiments", ["listExperiments"]);
  const summary = preview.data === undefined ? null : summaryOf(preview.data.items);
  const willChange = summary?.changed.length ?? 0;
  const run = (): void => tell(move.mutateAsync({ request }));
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Move ${experiments(ids.length)}`}
      description="Runs that are requested later count for the quota of the new workspace."
      actions={
        <>
          <Button onClick={onClose}>Leave them</Button>
          <Button look="primary" disabled={willChange === 0 || move.isPending} onClick={run}>
            Move {experiments(willChange)}
          </Button>
        </>
      }
    >
      <Choice
        label="Workspace"
        value={workspace}
        onChange={(event) => {
          setWorkspace(event.target.value);
          setProject("default");
        }}
      >
        {workspaces?.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Choice>
      <Choice label="Project" value={project} onChange={(event) => setProject(event.target.value)}>
        {projects.data?.items.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </Choice>
      <Preview
        summary={summary}
        error={preview.error}
        future={(count) => `${experiments(count)} will be moved`}
      />
      {move.error !== null && <ErrorNote error={move.error} />}
    </Dialog>
  );
}
