import type { Plain } from "@trainyard/contracts";
import type { Project, Workspace } from "@trainyard/contracts/api";

/** A workspace, or a project, which has the name of its workspace. */
export type Place = Plain<Workspace> | Plain<Project>;

/** A dialog that is open: for a new workspace, for a new project of a workspace, or for the words about a place. */
export type AskedPlace =
  | { readonly kind: "workspace" }
  | { readonly kind: "project"; readonly workspace: string }
  | { readonly kind: "describe"; readonly place: Place };

/** The names in a call about a place. */
export const namesOf = (
  place: Place,
): { readonly workspace: string; readonly project: string | undefined } =>
  "workspace" in place
    ? { workspace: place.workspace, project: place.name }
    : { workspace: place.name, project: undefined };

/** "workspace vision", "project segmentation of vision". */
export function placeText(place: Place): string {
  const { workspace, project } = namesOf(place);
  return project === undefined ? `workspace ${workspace}` : `project ${project} of ${workspace}`;
}

/** Nobody made the default ones, and nobody changes them. */
export const isDefault = ({ createdAtMs }: Place): boolean => createdAtMs === undefined;
