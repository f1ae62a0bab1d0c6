import { type JSX, useId, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field, TextArea } from "../../components/field.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import { Members } from "./members.tsx";
import { namesOf, type Place, type PlaceDialogKind, placeText } from "./places.ts";

type Made = { readonly workspace: string; readonly project: string | undefined };
type Props = {
  readonly asked: PlaceDialogKind;
  readonly onClose: () => void;
  /** Called with the new place, which is then shown. */
  readonly onMade: (made: Made) => void;
};
type Words = { readonly name: string; readonly description: string; readonly notes: string };

export function PlaceDialog({ asked, onClose, onMade }: Props): JSX.Element {
  if (asked.kind === "describe") return <Describe place={asked.place} onClose={onClose} />;
  if (asked.kind === "members") return <Members workspace={asked.workspace} onClose={onClose} />;
  return (
    <New
      workspace={asked.kind === "project" ? asked.workspace : undefined}
      onClose={onClose}
      onMade={onMade}
    />
  );
}

function New(props: {
  readonly workspace: string | undefined;
  readonly onClose: () => void;
  readonly onMade: (made: Made) => void;
}): JSX.Element {
  const { workspace, onClose, onMade } = props;
  const createWorkspace = useChange("createWorkspace", ["listWorkspaces"]);
  const createProject = useChange("createProject", ["listProjects"]);
  const create = (words: Words): void => {
    const name = words.name.trim();
    const made = (place: Made) => ({
      onSuccess: () => {
        onClose();
        onMade(place);
      },
    });
    if (workspace === undefined) {
      const place = { workspace: name, project: undefined };
      createWorkspace.mutate({ request: { ...words, name } }, made(place));
    } else {
      const place = { workspace, project: name };
      createProject.mutate({ request: { ...words, name, workspace } }, made(place));
    }
  };
  const isProject = workspace !== undefined;
  return (
    <WordsDialog
      title={isProject ? `New project in ${workspace}` : "New workspace"}
      means={
        isProject
          ? "A project contains experiments. Its name cannot be changed."
          : "A workspace contains projects and models, and may have a quota. Its name cannot be changed."
      }
      verb="Create"
      first={{ name: "", description: "", notes: "" }}
      isNew
      isPending={createWorkspace.isPending || createProject.isPending}
      error={createWorkspace.error ?? createProject.error}
      onClose={onClose}
      onSubmit={create}
    />
  );
}

function Describe(props: { readonly place: Place; readonly onClose: () => void }): JSX.Element {
  const { place, onClose } = props;
  const say = useSay();
  const updateWorkspace = useChange("updateWorkspace", ["listWorkspaces"]);
  const updateProject = useChange("updateProject", ["listProjects"]);
  const update = ({ description, notes }: Words): void => {
    const { workspace, project } = namesOf(place);
    const after = {
      onSuccess: () => {
        say.done(`The description of ${placeText(place)} is saved.`);
        onClose();
      },
    };
    const words = { description, notes };
    const ifMatch = place.etag;
    if (project === undefined) {
      updateWorkspace.mutate({ request: { workspace, ...words }, ifMatch }, after);
    } else {
      updateProject.mutate({ request: { workspace, project, ...words }, ifMatch }, after);
    }
  };
  return (
    <WordsDialog
      title={`Describe ${placeText(place)}`}
      verb="Save"
      first={place}
      isPending={updateWorkspace.isPending || updateProject.isPending}
      error={updateWorkspace.error ?? updateProject.error}
      onClose={onClose}
      onSubmit={update}
    />
  );
}

function WordsDialog(props: {
  readonly title: string;
  readonly means?: string;
  readonly verb: string;
  readonly first: Words;
  readonly isNew?: boolean;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly onClose: () => void;
  readonly onSubmit: (words: Words) => void;
}): JSX.Element {
  const { title, means, verb, first, isNew = false, isPending, error, onClose, onSubmit } = props;
  const [words, setWords] = useState(first);
  const form = useId();
  const isReady = words.name.trim() !== "" && !isPending;
  const submit = (): void => {
    if (isReady) onSubmit(words);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      onSubmit={submit}
      title={title}
      description={means}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={form} disabled={!isReady}>
            {verb}
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
        {isNew && (
          <Field
            label="Name"
            autoFocus
            value={words.name}
            onChange={({ target }) => setWords((now) => ({ ...now, name: target.value }))}
          />
        )}
        <Field
          label="Description"
          value={words.description}
          onChange={({ target }) => setWords((now) => ({ ...now, description: target.value }))}
        />
        <TextArea
          label="Notes"
          rows={5}
          value={words.notes}
          onChange={({ target }) => setWords((now) => ({ ...now, notes: target.value }))}
        />
      </form>
      {error !== null && <ErrorNote error={error} />}
    </Dialog>
  );
}
