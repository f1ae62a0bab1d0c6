/** Decides whether an object may be added to a project or workspace, for the services that own these objects. */
import type { AnyEvent, Plain } from "@trainyard/contracts";
import type { Place } from "@trainyard/contracts/commands";
import { type Rejection, reject } from "@trainyard/kernel";
import type { StreamFold } from "./folds/folds.ts";
import type { Work } from "./work/work.ts";

type Openness = { readonly exists: boolean; readonly archived: boolean };

const evolve = (state: Openness, { type }: AnyEvent): Openness => {
  switch (type) {
    case "WorkspaceCreated":
    case "ProjectCreated":
      return { ...state, exists: true };
    case "WorkspaceArchived":
    case "ProjectArchived":
      return { ...state, archived: true };
    case "WorkspaceUnarchived":
    case "ProjectUnarchived":
      return { ...state, archived: false };
    default:
      return state;
  }
};

const initial: Openness = { exists: false, archived: false };
const folds = {
  workspace: { name: "open-workspace", category: "workspace", initial, evolve },
  project: { name: "open-project", category: "project", initial, evolve },
} satisfies Readonly<Record<string, StreamFold<Openness>>>;

/** The id of the default workspace and projects, which always exist and are never archived. */
const always = "default";

/** Returns null if allowed. The commit of this work then succeeds only if neither was archived meanwhile. */
export async function refusalOfPlace(work: Work, place: Plain<Place>): Promise<Rejection | null> {
  const { workspace, workspaceId, project, projectId } = place;
  return (
    (await refusal(work, "workspace", workspaceId, workspace)) ??
    (await refusal(work, "project", projectId, project))
  );
}

/** Returns null if an object may be added to the workspace. */
export function refusalOfWorkspace(work: Work, place: Plain<Place>): Promise<Rejection | null> {
  return refusal(work, "workspace", place.workspaceId, place.workspace);
}

async function refusal(
  work: Work,
  kind: keyof typeof folds,
  id: string,
  name: string,
): Promise<Rejection | null> {
  if (id === always) return null;
  const { exists, archived } = await work.guard(folds[kind], id === "" ? "?" : id);
  const shown = JSON.stringify(name.slice(0, 80));
  if (!exists) return reject(`${kind}_not_found`, `there is no ${kind} ${shown}`);
  if (!archived) return null;
  return reject(`${kind}_archived`, `the ${kind} ${shown} is archived: unarchive it first`);
}
