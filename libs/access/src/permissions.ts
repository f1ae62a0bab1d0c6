/** The permissions by their names, and the built-in roles. */
import { Permission } from "@trainyard/contracts/routes";

/** The name of a permission in roles, answers and refusals, for example experiment_view. */
export type PermissionName = Lowercase<Exclude<keyof typeof Permission, "UNSPECIFIED">>;

const names = Object.entries(Permission).flatMap(([name, value]) =>
  typeof value === "number" && value !== Permission.UNSPECIFIED
    ? [[value, name.toLowerCase() as PermissionName] as const]
    : [],
);

const nameOf: ReadonlyMap<Permission, PermissionName> = new Map(names);

/** The permissions that roles have. Every user is signed in without a role. */
export const permissionNames: readonly PermissionName[] = names
  .map(([, name]) => name)
  .filter((name) => name !== "signed_in");

const known: ReadonlySet<string> = new Set(permissionNames);

export const isPermission = (name: string): name is PermissionName => known.has(name);

/** Returns the name of a permission. Throws an error for UNSPECIFIED. */
export function permissionName(permission: Permission): PermissionName {
  const name = nameOf.get(permission);
  if (name === undefined) throw new TypeError(`${permission} is no permission`);
  return name;
}

/** The permissions that a role has only if it is given everywhere. */
export const onlyEverywhere: ReadonlySet<PermissionName> = new Set([
  "workspace_create",
  "cluster_admin",
  "user_admin",
]);

/** The permissions for one's own objects, by the permission for all objects. */
export const ownOf: Readonly<Partial<Record<PermissionName, PermissionName>>> = {
  experiment_control: "experiment_control_own",
  task_control: "task_control_own",
  model_control: "model_control_own",
};

/** The permission without which an object is answered as if it were not there. */
export type Sight = "workspace_view" | "experiment_view" | "task_view" | "model_view";

export type Role = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly string[];
};

const sees = ["workspace_view", "experiment_view", "task_view", "model_view"] as const;

const editsAll = [
  ...sees,
  "project_edit",
  "experiment_create",
  "experiment_edit",
  "experiment_control_own",
  "model_edit",
  "model_control_own",
] as const;

const everythingIn: readonly PermissionName[] = permissionNames.filter(
  (name) => !onlyEverywhere.has(name),
);

const builtIn = (
  id: string,
  description: string,
  permissions: readonly PermissionName[],
): readonly [string, Role] => [id, { id, name: id, description, permissions }];

/** The built-in roles by id, which is their name. They never change. */
export const builtInRoles: ReadonlyMap<string, Role> = new Map([
  builtIn("viewer", "sees everything in the workspace", sees),
  builtIn(
    "editor",
    "creates, forks, labels and annotates; stops, moves and deletes only what is their own",
    [...editsAll, "task_create", "task_control_own"],
  ),
  builtIn("restricted-editor", "an editor without tasks", editsAll),
  builtIn(
    "workspace-admin",
    "does everything in the workspace, and gives roles in it",
    everythingIn,
  ),
  builtIn("registry-viewer", "sees models and their versions", ["workspace_view", "model_view"]),
  builtIn("workspace-creator", "creates workspaces, and is the admin of those", [
    "workspace_create",
  ]),
  builtIn("cluster-admin", "does everything", permissionNames),
]);
