import type { PermissionName, Rights } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { Place } from "@trainyard/contracts/commands";
import type { Backend } from "../../backend.ts";
import { findPlace, findWorkspace } from "../../spaces/spaces.ts";
import { requireIn } from "./guard.ts";
import { findObject, type ObjectKind } from "./objects.ts";

/** The place that a request names for something new, and the permission that its caller needs there. */
export type NewPlace = {
  readonly workspace: string;
  readonly project?: string;
  readonly rights: Rights;
  readonly permission: PermissionName;
};

/**
 * Returns the place for something new. Throws a Problem if the caller may create nothing there, or if the workspace or
 * project does not exist or is archived.
 */
export async function findNewPlace(
  backend: Backend,
  { workspace: named, project = "", rights, permission }: NewPlace,
): Promise<Plain<Place>> {
  const workspace = await findWorkspace(backend, named);
  requireIn(rights, permission, workspace.name, named || workspace.name);
  return findPlace(backend, named, project);
}

/**
 * Returns the workspace of something new that is made of an object and names none: that of the object if the caller has
 * the permission there; empty otherwise.
 */
export async function workspaceLike(
  backend: Backend,
  kind: ObjectKind,
  id: string,
  { rights, permission }: Pick<NewPlace, "rights" | "permission">,
): Promise<string> {
  const found = await findObject(backend, kind, id);
  return found !== undefined && rights.has(permission, found.workspace) ? found.workspace : "";
}
