import { onlyEverywhere } from "@trainyard/access";

type Role = { readonly permissions: readonly string[] };

/** Returns the roles that can be given in a workspace: those without permissions of the cluster. Empty: everywhere. */
export function givable<Given extends Role>(
  roles: readonly Given[],
  workspace: string,
): readonly Given[] {
  const ofCluster: ReadonlySet<string> = onlyEverywhere;
  if (workspace === "") return roles;
  return roles.filter(({ permissions }) => !permissions.some((name) => ofCluster.has(name)));
}
