import { localUser } from "@trainyard/access";
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import { isLine } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { commit, rejectionOf } from "../../people/commit.ts";
import { createUser } from "../../people/create-user.ts";
import { requireDescription, requireName } from "../../people/descriptions.ts";
import { refuseLastAdmin } from "../../people/last-admin.ts";
import { peopleLimits } from "../../people/limits.ts";
import { addIdentity, removeIdentity } from "../../people/oidc/identities.ts";
import type { People, User } from "../../people/people.ts";
import {
  describeRow,
  endSessions,
  idsOfPeople,
  keyOfName,
  listRows,
} from "../../people/user-rows.ts";
import { notAllowed } from "../rights/guard.ts";
import { users } from "../../streams.ts";
import { pageSize } from "../paging.ts";
import { passwordHandlers } from "./passwords.ts";
import { heldRoles, shownUser } from "./shown-user.ts";
import { change, userCaller } from "./user-change.ts";

export function userHandlers(backend: Backend, people: People) {
  const { parts } = backend;
  const shown = async (user: User, context: RequestContext) =>
    shownUser(user, await parts.access.state(), { ...context, caller: userCaller(context) });
  const after = async (id: string, position: string, context: RequestContext) => ({
    position,
    user: await shown(await people.find(id), context),
  });
  return {
    getMe: (_request, context) => getMe(backend, people, context),
    createUser: async (request, context) => {
      const { user, ...created } = await createUser(backend, people, request, context);
      return { ...created, user: await shown(user, context) };
    },
    listUsers: async (asked, context) => {
      const limit = pageSize(asked.pageSize);
      const after = Buffer.from(asked.pageToken, "base64url").toString();
      // One row more than a page shows whether another page follows.
      const rows = await listRows(parts.pool, { after, prefix: asked.prefix, limit: limit + 1 });
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? keyOfName(page.at(-1)?.name ?? "") : "";
      const items = await people.ofRows(page);
      return {
        items: await Promise.all(items.map((user) => shown(user, context))),
        nextPageToken: Buffer.from(last).toString("base64url"),
        position: backend.position,
      };
    },
    getUser: async ({ user }, context) => shown(await people.find(user), context),
    updateUser: async (request, context) => {
      const { id } = await people.find(request.user);
      return after(id, await updateUser(backend, people, request, context), context);
    },
    disableUser: async ({ user, reason }, context) => {
      requireReason(reason);
      const { id } = await people.find(user);
      const all = await idsOfPeople(parts.pool);
      const position = await commit(backend, context, async (work) => {
        const disable = { type: "disable", reason, by: context.caller.authid } as const;
        const rejected = rejectionOf(await work.decide(users, id, disable));
        return rejected ?? refuseLastAdmin(work, all);
      });
      return after(id, position, context);
    },
    enableUser: async ({ user }, context) => {
      const { id } = await people.find(user);
      // Sessions from before the user was disabled are not valid again.
      await endSessions(parts.pool, id);
      const enable = { type: "enable", by: context.caller.authid } as const;
      return after(id, await change(backend, id, enable, context), context);
    },
    ...passwordHandlers(backend, people, after),
  } satisfies Partial<UnaryHandlers>;
}

async function getMe(
  { parts }: Backend,
  people: People,
  context: RequestContext,
): Promise<ReplyOf<"getMe">> {
  const caller = userCaller(context);
  const state = await parts.access.state();
  const { everywhere, workspaces } = context.rights.list();
  const me = {
    ...{ hasUsers: state.hasUsers, permissions: everywhere, workspaces },
    token: caller.token,
  };
  if (!state.hasUsers) return { ...me, user: undefined, roles: [] };
  const user = shownUser(await people.find(caller.user), state, { ...context, caller });
  return { ...me, user, roles: heldRoles(state, caller.user) };
}

/** Changes the names, the address and the identities of a user. Returns the position. */
async function updateUser(
  backend: Backend,
  people: People,
  request: RequestOf<"updateUser">,
  context: RequestContext,
): Promise<string> {
  const user = await people.find(request.user);
  const { id } = user;
  const { name = user.name, displayName = user.displayName, email = user.email } = request;
  if (!context.rights.everywhere("user_admin")) {
    // A token that is limited to a role does not change its owner.
    const { user: caller, limits } = userCaller(context);
    const isOwn = caller === id && limits.length === 0;
    if (!isOwn || name !== user.name || request.addIdentity !== undefined) {
      throw notAllowed("user_admin", "");
    }
  }
  if (name !== user.name) {
    requireName(name);
    if (id === localUser) {
      const detail = `the service account ${localUser} keeps its name, by which older objects are found`;
      throw new Problem(409, "built_in", detail);
    }
  }
  requireDescription({ displayName, email });
  if (!(await describeRow(backend.parts.pool, { id, name, displayName, email }))) {
    const detail = `there is a user ${JSON.stringify(name)} already`;
    throw new Problem(409, "user_exists", detail);
  }
  backend.parts.directory.set(id, name);
  await changeIdentities(backend, user, request, context);
  return change(backend, id, { type: "describe", by: context.caller.authid }, context);
}

async function changeIdentities(
  { parts: { pool } }: Backend,
  { id, kind }: User,
  { addIdentity: added, removeIdentity: removed }: RequestOf<"updateUser">,
  context: RequestContext,
): Promise<void> {
  if (added !== undefined) {
    const isWhole = [added.issuer, added.subject].every((text) => text !== "" && isLine(text));
    if (kind !== "person" || !isWhole) {
      const detail = "an identity has an issuer and a subject, and is one of a person";
      throw new Problem(400, "invalid_request", detail);
    }
    await addIdentity(pool, added, id);
  }
  if (removed === undefined) return;
  const mayBeLast = context.rights.everywhere("user_admin");
  const keptSession = userCaller(context).session?.digest ?? "";
  await removeIdentity(pool, removed, id, { keptSession, mayBeLast });
}

function requireReason(reason: string): void {
  const { reasonCharactersMax: most } = peopleLimits;
  if (reason.length <= most) return;
  const detail = `the reason has ${reason.length} characters; the maximum is ${most}`;
  throw new Problem(400, "invalid_request", detail);
}
