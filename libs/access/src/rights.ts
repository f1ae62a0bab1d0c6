/** The rights of a user: the union of its roles, within the limits of a token. */
import { onlyEverywhere, ownOf, type PermissionName, permissionNames } from "./permissions.ts";
import { type AccessState, everyone, type Grant, roleOf } from "./state.ts";

/** A limit of a token, as its event has it. */
export type TokenLimit = {
  /** The id of the role; empty for no limit. */
  readonly role: string;
  /** The names of the workspaces; empty for no limit. */
  readonly workspaces: readonly string[];
};

export type Owned = {
  readonly workspace: string;
  /** The owner, as events record it: user:0f3a. */
  readonly owner: string;
};

const sights = ["workspace_view", "experiment_view", "task_view", "model_view"] as const;

export class Rights {
  /** The owner that the caller is, as events record it. */
  readonly owner: string;
  readonly #everywhere: ReadonlySet<PermissionName>;
  readonly #inWorkspace: ReadonlyMap<string, ReadonlySet<PermissionName>>;

  constructor(
    owner: string,
    everywhere: ReadonlySet<PermissionName>,
    inWorkspace: ReadonlyMap<string, ReadonlySet<PermissionName>> = new Map(),
  ) {
    this.owner = owner;
    this.#everywhere = everywhere;
    this.#inWorkspace = inWorkspace;
  }

  /** Whether the caller has the permission for all objects of a workspace. */
  has(permission: PermissionName, workspace: string): boolean {
    return (
      permission === "signed_in" ||
      this.#everywhere.has(permission) ||
      this.#inWorkspace.get(workspace)?.has(permission) === true
    );
  }

  /** Whether the caller has the permission for an object: for all of its workspace, or because it is its own. */
  hasFor(permission: PermissionName, { workspace, owner }: Owned): boolean {
    if (this.has(permission, workspace)) return true;
    const own = ownOf[permission];
    return own !== undefined && owner === this.owner && this.has(own, workspace);
  }

  /** Whether the caller has the permission in every workspace, or for the cluster. */
  everywhere(permission: PermissionName): boolean {
    return permission === "signed_in" || this.#everywhere.has(permission);
  }

  /** Returns the workspaces in which the caller has the permission, sorted; null for every workspace. */
  workspacesWith(permission: PermissionName): readonly string[] | null {
    if (this.everywhere(permission)) return null;
    return [...this.#inWorkspace]
      .filter(([, permissions]) => permissions.has(permission))
      .map(([workspace]) => workspace)
      .toSorted();
  }

  /** Whether the caller has the permission anywhere. */
  anywhere(permission: PermissionName): boolean {
    return this.workspacesWith(permission)?.length !== 0;
  }

  /** Whether the caller has the permission anywhere, for all objects or for its own. */
  ownAnywhere(permission: PermissionName): boolean {
    const own = ownOf[permission];
    return this.anywhere(permission) || (own !== undefined && this.anywhere(own));
  }

  /** Whether the caller sees the objects of all workspaces. */
  get seesAll(): boolean {
    return sights.every((permission) => this.everywhere(permission));
  }

  /** A text that is equal for callers who see the same objects, so that they may share answers. */
  get sight(): string {
    return JSON.stringify(sights.map((permission) => this.workspacesWith(permission)));
  }

  /** The permissions everywhere, and those in single workspaces beyond them. */
  list(): {
    readonly everywhere: readonly PermissionName[];
    readonly workspaces: readonly {
      readonly workspace: string;
      readonly permissions: readonly PermissionName[];
    }[];
  } {
    const inOrder = (has: (name: PermissionName) => boolean) => permissionNames.filter(has);
    return {
      everywhere: inOrder((name) => this.everywhere(name)),
      workspaces: [...this.#inWorkspace.keys()].toSorted().flatMap((workspace) => {
        const permissions = inOrder((name) => !this.everywhere(name) && this.has(name, workspace));
        return permissions.length === 0 ? [] : [{ workspace, permissions }];
      }),
    };
  }

  /** Returns the rights within a limit. `permissions` are those of the limit's role; null for no limit. */
  within(permissions: ReadonlySet<string> | null, workspaces: readonly string[]): Rights {
    const kept = (all: ReadonlySet<PermissionName>) =>
      new Set([...all].filter((name) => permissions === null || permissions.has(name)));
    if (workspaces.length === 0) {
      const inWorkspace = [...this.#inWorkspace].map(
        ([workspace, all]) => [workspace, kept(all)] as const,
      );
      return new Rights(this.owner, kept(this.#everywhere), new Map(inWorkspace));
    }
    const inWorkspace = workspaces.map((workspace) => {
      const all = permissionNames.filter(
        (name) => !onlyEverywhere.has(name) && this.has(name, workspace),
      );
      return [workspace, kept(new Set(all))] as const;
    });
    return new Rights(this.owner, new Set(), new Map(inWorkspace));
  }
}

/** Returns the rights of a caller who may do everything: a token of a cluster without users, or a service. */
export const allRights = (owner: string): Rights => new Rights(owner, new Set(permissionNames));

/** Returns the rights of a caller who may do nothing. */
export const noRights = (owner: string): Rights => new Rights(owner, new Set());

/** The rights of users for one state. States do not change, so they are computed once. */
const known = new WeakMap<AccessState, Map<string, Rights>>();

/**
 * Returns the rights of a user. `owner` is what events record for it. In a cluster without users every user may do
 * everything.
 */
export function rightsOf(
  state: AccessState,
  user: string,
  owner: string,
  limits: readonly TokenLimit[] = [],
): Rights {
  const ofState = known.get(state) ?? new Map<string, Rights>();
  known.set(state, ofState);
  const key = `${user} ${owner}`;
  const whole = ofState.get(key) ?? computed(state, user, owner);
  ofState.set(key, whole);
  return limits.reduce((rights, { role, workspaces }) => {
    // A role that was deleted permits nothing.
    const permissions = role === "" ? null : new Set(roleOf(state, role)?.permissions);
    return rights.within(permissions, workspaces);
  }, whole);
}

function computed(state: AccessState, user: string, owner: string): Rights {
  if (!state.hasUsers) return allRights(owner);
  const everywhere = new Set<PermissionName>();
  const inWorkspace = new Map<string, Set<PermissionName>>();
  for (const { role, workspace } of grantsOf(state, user)) {
    const permissions = (roleOf(state, role)?.permissions ?? []) as readonly PermissionName[];
    if (workspace === "") for (const name of permissions) everywhere.add(name);
    else {
      const there = inWorkspace.get(workspace) ?? new Set();
      for (const name of permissions) if (!onlyEverywhere.has(name)) there.add(name);
      inWorkspace.set(workspace, there);
    }
  }
  return new Rights(owner, everywhere, inWorkspace);
}

/** Returns the roles that a user has: its own, and those of its groups. */
export function grantsOf({ grants, groups }: AccessState, user: string): readonly Grant[] {
  return [...grants.values()].filter(
    (grant) =>
      grant.user === user ||
      grant.group === everyone ||
      (grant.group !== "" && groups.get(grant.group)?.members.has(user) === true),
  );
}

/** Returns those of the users who are cluster admins: who have user_admin everywhere. */
export function adminsIn(state: AccessState, users: readonly string[]): readonly string[] {
  const admins = new Set<string>();
  for (const { role, user, group, workspace } of state.grants.values()) {
    if (workspace !== "" || !roleOf(state, role)?.permissions.includes("user_admin")) continue;
    if (group === everyone) return users;
    if (group === "") admins.add(user);
    else for (const member of state.groups.get(group)?.members ?? []) admins.add(member);
  }
  return users.filter((user) => admins.has(user));
}
