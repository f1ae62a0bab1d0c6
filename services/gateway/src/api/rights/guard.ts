/**
 * The guard before every handler: whether the caller has the permission that the options of the call name, for each
 * object that the request names. What the caller may not see is answered as if it were not there.
 */
import { permissionName, type PermissionName, type Rights } from "@trainyard/access";
import type { CallFacts } from "@trainyard/contracts/routes";
import type { Backend } from "../../backend.ts";
import type { Caller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { CurrentAccess } from "../../people/current-access.ts";
import { wholeCheckpointId } from "../short-checkpoint-ids.ts";
import {
  findObject,
  type Found,
  isOwnUpload,
  isSeen,
  missing,
  type ObjectKind,
} from "./objects.ts";

export class Guard {
  readonly #access: Pick<CurrentAccess, "rightsOf" | "requireEnabled">;
  readonly #backend: Backend;

  constructor(access: Pick<CurrentAccess, "rightsOf" | "requireEnabled">, backend: Backend) {
    this.#access = access;
    this.#backend = backend;
  }

  /** Returns the caller's rights. Throws a Problem if the caller may not make the call, or not see an object of it. */
  async require(facts: CallFacts, message: object, caller: Caller): Promise<Rights> {
    const rights = await this.#access.rightsOf(caller);
    if (caller.kind === "run" || facts.open || facts.signsIn || facts.narrows) return rights;
    const permission = permissionName(facts.permission);
    if (rights.everywhere(permission)) return rights;
    if (facts.objects.length === 0) throw notAllowed(permission, "");
    for (const { kind, id } of namedObjects(facts.objects, message)) {
      if (kind === "run" && id === "") requireUpload(rights);
      else await this.#requireFor(rights, permission, kind, id);
    }
    return rights;
  }

  /** Throws a Problem if the caller may not make a call any more that is still open. */
  async requireStill(facts: CallFacts, message: object, caller: Caller): Promise<void> {
    if (caller.kind === "user") await this.#access.requireEnabled(caller.user);
    await this.require(facts, message, caller);
  }

  async #requireFor(
    rights: Rights,
    permission: PermissionName,
    kind: ObjectKind,
    named: string,
  ): Promise<void> {
    const isShort = kind === "checkpoint";
    const id = isShort ? await wholeCheckpointId(this.#backend, named, rights) : named;
    requireFor(rights, permission, kind, id, await findObject(this.#backend, kind, id));
  }
}

/** Throws a Problem if the caller may not see the object, or has not the permission for it. */
export function requireFor(
  rights: Rights,
  permission: PermissionName,
  kind: ObjectKind,
  id: string,
  found: Found | undefined,
): void {
  if (found === undefined || !isSeen(rights, found)) throw missing(kind, id);
  const needed = forKind(permission, found);
  if (!isPermitted(rights, needed, found)) throw notAllowed(needed, found.workspace);
}

/** Whether a caller who sees an object has a permission for it. */
export function isPermitted(rights: Rights, permission: PermissionName, found: Found): boolean {
  return (
    permission === found.sight ||
    rights.hasFor(permission, found) ||
    (isOwnUpload(rights, found) && rights.ownAnywhere(permission))
  );
}

/** Throws a Problem if the caller may not upload folders: a person who creates experiments somewhere may. */
function requireUpload(rights: Rights): void {
  if (!rights.anywhere("experiment_create")) throw notAllowed("experiment_create", "");
}

/** A job, a run and a checkpoint may be of a task, whose permissions have the same names. */
function forKind(permission: PermissionName, { sight }: Found): PermissionName {
  if (sight !== "task_view") return permission;
  if (permission === "experiment_view") return "task_view";
  return permission === "experiment_control" || permission === "experiment_edit"
    ? "task_control"
    : permission;
}

/** Throws a Problem if the caller has not the permission in the workspace, which the request names so. */
export function requireIn(
  rights: Rights,
  permission: PermissionName,
  workspace: string,
  named = workspace,
): void {
  if (rights.has(permission, workspace)) return;
  if (!rights.has("workspace_view", workspace)) throw missing("workspace", named);
  throw notAllowed(permission, workspace);
}

/** The refusal of a caller who sees the object. An empty workspace means everywhere. */
export function notAllowed(permission: PermissionName, workspace: string): Problem {
  const where = workspace === "" ? "everywhere" : `in the workspace ${JSON.stringify(workspace)}`;
  const detail = `this needs the permission ${permission} ${where}: ask an admin for a role that has it`;
  return new Problem(403, "not_allowed", detail);
}

type Named = { readonly kind: ObjectKind; readonly id: string };

/**
 * Returns the objects that a request names, in the order of the options. A call may have several fields for its object,
 * of which one is given.
 */
function namedObjects(objects: readonly string[], message: object): readonly Named[] {
  const all = objects.flatMap((object) => {
    const [field = "", kind = field.replace(/s$/, "")] = object.split(":");
    const value = (message as Readonly<Record<string, unknown>>)[field];
    const ids = Array.isArray(value) ? value : [value];
    return ids.map((id) => ({ kind: kind as ObjectKind, id: String(id ?? "") }));
  });
  const named = all.filter(({ id }) => id !== "");
  return named.length === 0 ? all : named;
}
