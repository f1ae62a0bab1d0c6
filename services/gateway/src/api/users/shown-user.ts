import { type AccessState, grantsOf, type Rights, roleOf } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { HeldRole, User as ShownUser } from "@trainyard/contracts/api";
import type { UserCaller } from "../../http/caller.ts";
import type { User } from "../../people/people.ts";

type Viewer = { readonly caller: Pick<UserCaller, "user">; readonly rights: Rights };

/** Shows a user, with its address and the subjects of its identities only to itself and to admins. */
export function shownUser(
  user: User,
  { groups }: AccessState,
  { caller, rights }: Viewer,
): Plain<ShownUser> {
  const { id, name, displayName, email, kind, disabled, createdAtMs, hasPassword } = user;
  const seesAll = caller.user === id || rights.everywhere("user_admin");
  const ofUser = [...groups.values()].filter(({ members }) => members.has(id));
  return {
    ...{ id, name, displayName, kind, disabled, createdAtMs, hasPassword },
    email: seesAll ? email : "",
    identities: user.identities.map((one) => (seesAll ? one : { ...one, subject: "" })),
    groups: ofUser.map((group) => group.name).toSorted(),
  };
}

/** Returns the roles of a user, its own and those of its groups, in the order in which they were given. */
export function heldRoles(state: AccessState, user: string): readonly Plain<HeldRole>[] {
  return grantsOf(state, user).map(({ role, workspace, group }) => ({
    role: roleOf(state, role)?.name ?? role,
    workspace,
    group: state.groups.get(group)?.name ?? "",
  }));
}
