import { allRights, isPermission, type PermissionName, Rights } from "@trainyard/access";
import type { ReplyOf } from "@trainyard/contracts";

type Me = Pick<ReplyOf<"getMe">, "user" | "hasUsers" | "permissions" | "workspaces">;

const known = (names: readonly string[]): ReadonlySet<PermissionName> =>
  new Set(names.filter(isPermission));

/**
 * Returns the rights that pages go by. Owners are names, as answers have them. Without users, and before the answer has
 * come, everything is shown: the gateway refuses what is not allowed.
 */
export function rightsOfMe(me: Me | undefined): Rights {
  if (me?.hasUsers !== true) return allRights("");
  const inWorkspaces = me.workspaces.map(
    ({ workspace, permissions }) => [workspace, known(permissions)] as const,
  );
  return new Rights(me.user?.name ?? "", known(me.permissions), new Map(inWorkspaces));
}
