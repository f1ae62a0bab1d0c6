/** The calls about who has which role. In a workspace its admins give roles that permit no more than their own. */
import {
  type AccessState,
  authidOf,
  type Grant,
  type PermissionName,
  type Rights,
  rightsOf,
  roleOf,
} from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { Grant as ShownGrant } from "@trainyard/contracts/api";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { idFor } from "../../people/commit.ts";
import type { People } from "../../people/people.ts";
import { notAllowed, requireIn } from "../rights/guard.ts";
import { missing } from "../rights/objects.ts";
import { findOpenWorkspace, findWorkspace } from "../../spaces/spaces.ts";
import type { ChangeAccess } from "./access.ts";
import { groupNamed, roleNamed } from "./named.ts";

export function grantHandlers(backend: Backend, people: People, change: ChangeAccess) {
  const { access, directory } = backend.parts;
  const shown = (
    state: AccessState,
    { id, role, user, group, workspace }: Grant,
  ): Plain<ShownGrant> => ({
    ...{ id, workspace },
    role: roleOf(state, role)?.name ?? role,
    user: user === "" ? "" : directory.nameOf(authidOf(user)),
    group: state.groups.get(group)?.name ?? "",
  });
  /** Returns the name of a workspace. Throws a Problem of 404 if the caller does not see it. */
  const seen = async (asked: string, rights: Rights): Promise<string> => {
    if (asked === "") return "";
    const { name } = await findWorkspace(backend, asked);
    if (!rights.has("workspace_view", name)) throw missing("workspace", asked);
    return name;
  };
  return {
    listGrants: async (request, { rights }) => {
      const state = await access.state();
      const workspace = await seen(request.workspace, rights);
      const user = request.user === "" ? "" : (await people.find(request.user)).id;
      const group = request.group === "" ? "" : groupNamed(state, request.group).id;
      const asked = [...state.grants.values()].filter(
        (grant) =>
          sees(rights, grant) &&
          (workspace === "" || grant.workspace === workspace) &&
          (user === "" || grant.user === user) &&
          (group === "" || grant.group === group),
      );
      return { items: asked.map((grant) => shown(state, grant)) };
    },
    giveRole: async (request, context) => {
      const workspace = await seen(request.workspace, context.rights);
      if (workspace !== "") await findOpenWorkspace(backend, workspace);
      const user = request.user === "" ? "" : (await people.find(request.user)).id;
      const grant = idFor("grant", context);
      const to = (state: AccessState) => ({
        role: roleNamed(state, request.role).id,
        group: request.group === "" ? "" : groupNamed(state, request.group).id,
        ...{ user, workspace },
      });
      const { position, state } = await change((before) => {
        const given = to(before);
        requireGiver(before, given, context);
        return [{ kind: "give", grant, ...given }];
      }, context);
      const held = [...state.grants.values()].find((one) => isSame(one, to(state)));
      return { position, grant: held && shown(state, held) };
    },
    takeRole: async ({ grant: id }, context) => {
      const { position } = await change((before) => {
        const grant = before.grants.get(id);
        if (grant === undefined || !sees(context.rights, grant)) {
          const detail = `there is no grant ${JSON.stringify(id.slice(0, 80))}`;
          throw new Problem(404, "grant_not_found", detail);
        }
        requireGiver(before, grant, context);
        return [{ kind: "take", grant: id }];
      }, context);
      return { position };
    },
  } satisfies Partial<UnaryHandlers>;
}

/** Roles in a workspace are shown to all who see it, and roles everywhere to admins. */
const sees = (rights: Rights, { workspace }: Grant): boolean =>
  workspace === "" ? rights.everywhere("user_admin") : rights.has("workspace_view", workspace);

/**
 * Throws a Problem if the caller may not give or take a role, with the rights of the moment of the change: an admin of
 * a workspace gives only what it may do there itself.
 */
function requireGiver(
  state: AccessState,
  { role, workspace }: Omit<Grant, "id">,
  { caller }: RequestContext,
): void {
  if (caller.kind === "run") throw notAllowed("user_admin", "");
  const rights = rightsOf(state, caller.user, caller.owner, caller.limits);
  if (rights.everywhere("user_admin")) return;
  if (workspace === "") throw notAllowed("user_admin", "");
  requireIn(rights, "workspace_admin", workspace);
  const permissions = (roleOf(state, role)?.permissions ?? []) as readonly PermissionName[];
  const beyond = permissions.find((permission) => !rights.has(permission, workspace));
  if (beyond !== undefined) throw notAllowed(beyond, workspace);
}

const isSame = (one: Grant, other: Omit<Grant, "id">): boolean =>
  one.role === other.role &&
  one.user === other.user &&
  one.group === other.group &&
  one.workspace === other.workspace;
