import type { Plain } from "@trainyard/contracts";
import type { Project, Workspace } from "@trainyard/contracts/api";

/** A workspace, or a project, which has the name of its workspace. */
export type Place = Plain<Workspace> | Plain<Project>;

/**
 * The open dialog: for a new workspace, for a new project of a workspace, for the description of a place, or for the
 * members of a workspace.
 */
export type PlaceDialogKind =
  | { readonly kind: "workspace" }
  | { readonly kind: "project"; readonly workspace: string }
  | { readonly kind: "describe"; readonly place: Place }
  | { readonly kind: "members"; readonly workspace: string };

/** The names in a call about a place. */
export const namesOf = (
  place: Place,
): { readonly workspace: string; readonly project: string | undefined } =>
  "workspace" in place
    ? { workspace: place.workspace, project: place.name }
    : { workspace: place.name, project: undefined };

/** Returns "workspace vision", or "project segmentation of vision". */
export function placeText(place: Place): string {
  const { workspace, project } = namesOf(place);
  return project === undefined ? `workspace ${workspace}` : `project ${project} of ${workspace}`;
}

/** Default places have no creator and cannot be changed. */
export const isDefault = ({ createdAtMs }: Place): boolean => createdAtMs === undefined;
