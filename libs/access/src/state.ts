/**
 * Groups, roles, and the users who have them: the fold of the stream access-cluster, and the decisions about it. The
 * stream is empty until the cluster has users.
 */
import type { AnyEvent, EventOf } from "@trainyard/contracts";
import { type Decider, isLine, reject, type Rejection } from "@trainyard/kernel";
import { builtInRoles, isPermission, onlyEverywhere, type Role } from "./permissions.ts";

/** The group of all users. It has no members of its own, and is never deleted. */
export const everyone = "everyone";

/** The id of the only stream of access. */
export const accessId = "cluster";

export type Group = {
  readonly id: string;
  readonly name: string;
  readonly fromClaim: boolean;
  readonly members: ReadonlySet<string>;
};

export type Grant = {
  readonly id: string;
  readonly role: string;
  /** The id of the user; empty for a group. */
  readonly user: string;
  /** The id of the group; empty for a user. */
  readonly group: string;
  /** The name of the workspace; empty for everywhere. */
  readonly workspace: string;
};

export type AccessState = {
  /** Whether the cluster has users. */
  readonly hasUsers: boolean;
  readonly groups: ReadonlyMap<string, Group>;
  /** The roles that admins have defined. */
  readonly roles: ReadonlyMap<string, Role>;
  readonly grants: ReadonlyMap<string, Grant>;
};

export type AccessEvent = EventOf<
  | "GroupCreated"
  | "GroupRenamed"
  | "GroupDeleted"
  | "GroupMembersChanged"
  | "RoleDefined"
  | "RoleDeleted"
  | "RoleGiven"
  | "RoleTaken"
>;

export type AccessCommand = {
  readonly by: string;
} /** Gives the first roles: to the first person, to the service account of earlier tokens, and to everyone. */ & (
  | { readonly kind: "begin"; readonly person: string; readonly local: string }
  | {
      readonly kind: "create group";
      readonly group: string;
      readonly name: string;
      readonly fromClaim: boolean;
    }
  | { readonly kind: "rename group"; readonly group: string; readonly name: string }
  | { readonly kind: "delete group"; readonly group: string }
  | {
      readonly kind: "change members";
      readonly group: string;
      readonly join: readonly string[];
      readonly leave: readonly string[];
      /** Whether an identity provider asks, which changes only groups of its own. */
      readonly fromClaim: boolean;
    }
  | {
      readonly kind: "define role";
      readonly role: string;
      readonly name: string;
      readonly description: string;
      readonly permissions: readonly string[];
    }
  | { readonly kind: "delete role"; readonly role: string }
  | ({ readonly kind: "give" } & Omit<Grant, "id"> & { readonly grant: string })
  | { readonly kind: "take"; readonly grant: string }
);

const nameCharactersMax = 100;
const descriptionCharactersMax = 1_000;
const groupsMax = 2_000;
const membersMax = 10_000;
const rolesMax = 200;
const grantsMax = 5_000;

export const noAccess: AccessState = {
  hasUsers: false,
  groups: new Map([
    [everyone, { id: everyone, name: everyone, fromClaim: false, members: new Set() }],
  ]),
  roles: new Map(),
  grants: new Map(),
};

export const accessDecider: Decider<AccessState, AccessCommand, AccessEvent> = {
  initial: noAccess,
  decide,
  evolve: (state, event) => evolveAccess(state, event),
};

/** Returns the role with an id. */
export const roleOf = ({ roles }: Pick<AccessState, "roles">, id: string): Role | undefined =>
  builtInRoles.get(id) ?? roles.get(id);

function decide(state: AccessState, command: AccessCommand): AccessEvent[] | Rejection {
  const { by } = command;
  switch (command.kind) {
    case "begin":
      return state.hasUsers ? [] : firstRoles(command);
    case "create group":
      if (state.groups.has(command.group)) return [];
      if (state.groups.size >= groupsMax) return tooMany("groups", groupsMax);
      return (
        groupNameProblem(state, command.name, command.group) ?? [
          { type: "GroupCreated", data: { ...of(command, "group", "name", "fromClaim"), by } },
        ]
      );
    case "rename group": {
      const group = state.groups.get(command.group);
      if (group === undefined) return noSuch("group", command.group);
      if (group.id === everyone) return builtIn(everyone);
      if (group.name === command.name) return [];
      return (
        groupNameProblem(state, command.name, command.group) ?? [
          { type: "GroupRenamed", data: { ...of(command, "group", "name"), by } },
        ]
      );
    }
    case "delete group": {
      const group = state.groups.get(command.group);
      if (group === undefined) return [];
      if (group.id === everyone) return builtIn(everyone);
      return [{ type: "GroupDeleted", data: { group: group.id, by } }];
    }
    case "change members":
      return changeMembers(state, command);
    case "define role":
      return defineRole(state, command);
    case "delete role":
      if (builtInRoles.has(command.role)) return builtIn(command.role);
      return state.roles.has(command.role)
        ? [{ type: "RoleDeleted", data: { role: command.role, by } }]
        : [];
    case "give":
      return give(state, command);
    default:
      return state.grants.has(command.grant)
        ? [{ type: "RoleTaken", data: { grant: command.grant, by } }]
        : [];
  }
}

type Of<Kind extends AccessCommand["kind"]> = Extract<AccessCommand, { readonly kind: Kind }>;

function firstRoles({ person, local, by }: Of<"begin">): AccessEvent[] {
  const given = (grant: string, role: string, to: Partial<Grant>): AccessEvent => ({
    type: "RoleGiven",
    data: { user: "", group: "", workspace: "", ...to, grant, role, by },
  });
  return [
    given("first-person", "cluster-admin", { user: person }),
    given("local-tokens", "cluster-admin", { user: local }),
    given("everyone-default", "editor", { group: everyone, workspace: "default" }),
  ];
}

function changeMembers(
  state: AccessState,
  command: Of<"change members">,
): AccessEvent[] | Rejection {
  const group = state.groups.get(command.group);
  if (group === undefined) return noSuch("group", command.group);
  if (group.id === everyone) return builtIn(everyone);
  if (group.fromClaim !== command.fromClaim) {
    const detail = `the group ${shown(group.name)} is a claim's: its identity provider changes its members`;
    return reject("group_of_claim", detail);
  }
  const joined = [...new Set(command.join)].filter((user) => !group.members.has(user));
  const left = [...new Set(command.leave)].filter((user) => group.members.has(user));
  if (group.members.size + joined.length - left.length > membersMax) {
    return tooMany("members of a group", membersMax);
  }
  if (joined.length + left.length === 0) return [];
  return [{ type: "GroupMembersChanged", data: { group: group.id, joined, left, by: command.by } }];
}

function defineRole(state: AccessState, command: Of<"define role">): AccessEvent[] | Rejection {
  const { role, name, description, permissions, by } = command;
  if (builtInRoles.has(role) || builtInRoles.has(name)) return builtIn(name);
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name) || name.length > nameCharactersMax) {
    const detail = `the name of a role has 1 to ${nameCharactersMax} lower-case letters, digits and hyphens`;
    return reject("invalid_request", detail);
  }
  if (description.length > descriptionCharactersMax) {
    const detail = `the description has ${description.length} characters; the maximum is ${descriptionCharactersMax}`;
    return reject("invalid_request", detail);
  }
  const unknown = permissions.find((permission) => !isPermission(permission));
  if (unknown !== undefined) {
    return reject(
      "no_such_permission",
      `${shown(unknown)} is no permission: yard role list shows those that there are`,
    );
  }
  if (permissions.length === 0) return reject("invalid_request", "a role permits something");
  const known = state.roles.get(role);
  if (known === undefined && state.roles.size >= rolesMax) return tooMany("roles", rolesMax);
  const all = [...new Set(permissions)].toSorted();
  const isSame = known?.description === description && known.permissions.join() === all.join();
  return isSame
    ? []
    : [{ type: "RoleDefined", data: { role, name, description, permissions: all, by } }];
}

function give(state: AccessState, command: Of<"give">): AccessEvent[] | Rejection {
  const { kind: _kind, ...data } = command;
  const role = roleOf(state, data.role);
  if (role === undefined) return noSuch("role", data.role);
  if ((data.user === "") === (data.group === "")) {
    return reject("invalid_request", "a role is given to a user or to a group");
  }
  if (data.group !== "" && !state.groups.has(data.group)) return noSuch("group", data.group);
  const cluster = role.permissions.find((name) => onlyEverywhere.has(name as never));
  if (data.workspace !== "" && cluster !== undefined) {
    const detail = `the role ${role.name} has ${cluster}, which concerns the whole cluster: give it everywhere`;
    return reject("only_everywhere", detail);
  }
  const isHeld = [...state.grants.values()].some(
    (one) =>
      one.role === data.role &&
      one.user === data.user &&
      one.group === data.group &&
      one.workspace === data.workspace,
  );
  if (isHeld) return [];
  if (state.grants.size >= grantsMax) return tooMany("given roles", grantsMax);
  return [{ type: "RoleGiven", data }];
}

/** Applies an event of the stream access-cluster. */
export function evolveAccess(state: AccessState, { type, data }: AnyEvent): AccessState {
  switch (type) {
    case "GroupCreated": {
      const group = { ...data, id: data.group, members: new Set<string>() };
      return { ...state, hasUsers: true, groups: with_(state.groups, data.group, group) };
    }
    case "GroupRenamed":
      return changedGroup(state, data.group, (group) => ({ ...group, name: data.name }));
    case "GroupDeleted":
      return {
        ...state,
        groups: without(state.groups, data.group),
        grants: filtered(state.grants, ({ group }) => group !== data.group),
      };
    case "GroupMembersChanged":
      return changedGroup(state, data.group, (group) => {
        const members = new Set([...group.members, ...data.joined]);
        for (const user of data.left) members.delete(user);
        return { ...group, members };
      });
    case "RoleDefined": {
      const { role: id, name, description, permissions } = data;
      return { ...state, roles: with_(state.roles, id, { id, name, description, permissions }) };
    }
    case "RoleDeleted":
      return {
        ...state,
        roles: without(state.roles, data.role),
        grants: filtered(state.grants, ({ role }) => role !== data.role),
      };
    case "RoleGiven": {
      const { grant: id, role, user, group, workspace } = data;
      const grants = with_(state.grants, id, { id, role, user, group, workspace });
      return { ...state, hasUsers: true, grants };
    }
    case "RoleTaken":
      return { ...state, grants: without(state.grants, data.grant) };
    default:
      return state;
  }
}

function changedGroup(
  state: AccessState,
  id: string,
  change: (group: Group) => Group,
): AccessState {
  const group = state.groups.get(id);
  if (group === undefined) return state;
  return { ...state, groups: with_(state.groups, id, change(group)) };
}

const with_ = <Value>(all: ReadonlyMap<string, Value>, id: string, value: Value) =>
  new Map([...all, [id, value]]);

const without = <Value>(all: ReadonlyMap<string, Value>, id: string) =>
  filtered(all, (_value, key) => key !== id);

const filtered = <Value>(
  all: ReadonlyMap<string, Value>,
  keep: (value: Value, id: string) => boolean,
): ReadonlyMap<string, Value> => new Map([...all].filter(([id, value]) => keep(value, id)));

function of<Whole, Name extends keyof Whole>(whole: Whole, ...names: Name[]): Pick<Whole, Name> {
  return Object.fromEntries(names.map((name) => [name, whole[name]])) as Pick<Whole, Name>;
}

function groupNameProblem(state: AccessState, name: string, own: string): Rejection | null {
  if (name === "" || !isLine(name) || name.length > nameCharactersMax) {
    const detail = `the name of a group is one line of 1 to ${nameCharactersMax} characters`;
    return reject("invalid_request", detail);
  }
  const same = name.toLowerCase();
  const taken = [...state.groups.values()].some(
    (group) => group.id !== own && group.name.toLowerCase() === same,
  );
  return taken ? reject("group_exists", `there is a group ${shown(name)} already`) : null;
}

const noSuch = (what: string, name: string): Rejection =>
  reject(`${what}_not_found`, `there is no ${what} ${shown(name)}`);

const builtIn = (name: string): Rejection =>
  reject("built_in", `${shown(name)} is built in and does not change`);

const tooMany = (what: string, most: number): Rejection =>
  reject("too_many", `a cluster has at most ${most} ${what}`);

const shown = (name: string): string => JSON.stringify(name.slice(0, 80));
