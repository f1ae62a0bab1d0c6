import { createHash } from "node:crypto";
import {
  isSameUser,
  authidOf,
  type AccessState,
  builtInRoles,
  roleOf,
  type TokenLimit,
  userOf,
} from "@trainyard/access";
import type { RequestOf } from "@trainyard/contracts";
import { isRejection } from "@trainyard/kernel";
import { newApiToken } from "@trainyard/kernel/api-token";
import { foldOf } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import { type Caller, mayUseMade } from "../../http/caller.ts";
import { notFound, Problem, problemOf } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import type { TokenDocument } from "../../read-model/core/views/documents.ts";
import { notAllowed } from "../rights/guard.ts";
import { findObject, missing } from "../rights/objects.ts";
import { ownCommit } from "../../spaces/own-commit.ts";
import { findPlace } from "../../spaces/spaces.ts";
import { endedWithAncestors, issueToken } from "../../spaces/tokens.ts";
import { tokens, users } from "../../streams.ts";
import { apiLimits } from "../limits.ts";
import { listPage } from "../paging.ts";
import { stoppingWith } from "../subscriptions/subscriptions.ts";
import { shownToken } from "../shown.ts";

/** The last time that a Date can show. */
const lastTimeMs = 8.64e15;

export function tokenHandlers(backend: Backend) {
  return {
    createToken: async (request, context) => {
      const { ttlSeconds, label } = request;
      if (!(ttlSeconds >= 0)) {
        throw new Problem(400, "invalid_request", "ttl_seconds must be 0 or more");
      }
      const { tokenLabelCharactersMax: most } = apiLimits;
      if (label.length > most) {
        const detail = `the label has ${label.length} characters; the maximum is ${most}`;
        throw new Problem(400, "invalid_request", detail);
      }
      const owner = await ownerFor(backend, request.user, context);
      const limits = await limitsFor(backend, request, context);
      // A repeat with the same idempotency key has the same token id.
      const token = newApiToken(tokenIdFor(context.commitId));
      if ((await backend.find("token", token.id)) !== undefined) throw unseen(token.id);
      const expiresAtMs = expiryOf(ttlSeconds, context.caller, backend.parts.clock.nowMs());
      const ancestors = ancestorsFor(context.caller);
      const drawn = { ...token, label, owner, expiresAtMs, ancestors, limits };
      const position = await issueToken(backend, ownCommit(context), drawn).catch(
        (error: unknown) => {
          throw isTaken(error) ? unseen(token.id) : error;
        },
      );
      await backend.reach(position);
      const [shown] = await shownTokens(backend, [await backend.get("token", token.id)]);
      return { token: shown, secret: token.text };
    },
    listTokens: async (request, { caller, rights }) => {
      await backend.reachText(request.minPosition);
      if (request.all && !rights.everywhere("user_admin")) throw notAllowed("user_admin", "");
      const { hasUsers } = await backend.parts.access.state();
      const isWhole = request.all || !hasUsers || caller.kind !== "user";
      const page = await listPage(
        backend,
        "token",
        request,
        isWhole ? {} : { field: { name: "owner", value: caller.owner } },
      );
      const items = await endedWithAncestors(backend.parts, page.items);
      return { ...page, items: await shownTokens(backend, items) };
    },
    revokeToken: async (request, context) => {
      const found = await backend.find("token", request.token);
      if (found === undefined || !mayRevoke(found, context)) {
        throw notFound("token", request.token);
      }
      refuseOwnEnd(context.caller, request.token);
      const subscriptions = await stoppingWith(backend, request.token, context).catch(() => []);
      const reason = `revoked by ${context.caller.authid}`;
      const result = await backend.parts.executor.execute(ownCommit(context), async (work) => {
        const decided = await work.decide(tokens, request.token, { type: "RevokeToken", reason });
        return isRejection(decided) ? decided : undefined;
      });
      if (isRejection(result)) throw problemOf(result);
      await backend.reach(result.position);
      return {
        position: String(result.position || backend.position),
        subscriptions: [...subscriptions],
      };
    },
  } satisfies Partial<UnaryHandlers>;
}

/** Returns the owner of a new token: the caller's, or a service account that an admin names. */
async function ownerFor(
  { parts }: Backend,
  user: string,
  { caller, rights }: RequestContext,
): Promise<string> {
  if (user === "") return caller.kind === "user" ? caller.owner : caller.authid;
  if (!rights.everywhere("user_admin")) throw notAllowed("user_admin", "");
  const named = parts.directory.authidOf(user);
  const authid = named === user ? authidOf(user) : named;
  const { state } = await parts.executor.cache.load(foldOf(users), userOf(authid));
  if (state.kind === "service") return authid;
  const shown = JSON.stringify(user.slice(0, 80));
  if (state.kind === null) throw new Problem(404, "user_not_found", `there is no user ${shown}`);
  const detail = `${shown} is a person: people create their tokens themselves`;
  throw new Problem(409, "not_a_service_account", detail);
}

/** Returns the limits of a new token: its own one, then those of the caller, which it never exceeds. */
async function limitsFor(
  backend: Backend,
  { role, workspaces }: RequestOf<"createToken">,
  { caller, rights }: RequestContext,
): Promise<readonly TokenLimit[]> {
  const inherited = caller.kind === "user" ? caller.limits : [];
  if (role === "" && workspaces.length === 0) return inherited;
  const { tokenWorkspacesMax: most } = apiLimits;
  if (workspaces.length > most) {
    const detail = `a token is limited to at most ${most} workspaces, and not to ${workspaces.length}`;
    throw new Problem(400, "invalid_request", detail);
  }
  const own = { role: "", workspaces: new Set<string>() };
  if (role !== "") own.role = roleNamed(await backend.parts.access.state(), role);
  for (const name of workspaces) {
    const found = await findObject(backend, "workspace", name);
    if (found === undefined || !rights.has("workspace_view", found.workspace)) {
      throw missing("workspace", name);
    }
    own.workspaces.add((await findPlace(backend, found.workspace, "")).workspace);
  }
  return [{ role: own.role, workspaces: [...own.workspaces] }, ...inherited];
}

/** Returns the id of a role by its id or name. */
function roleNamed(state: AccessState, name: string): string {
  const found = roleOf(state, name) ?? [...state.roles.values()].find((role) => role.name === name);
  if (found !== undefined) return found.id;
  const detail = `there is no role ${JSON.stringify(name.slice(0, 80))}: the roles are ${[...builtInRoles.keys()].join(", ")}, and those that admins have defined`;
  throw new Problem(404, "role_not_found", detail);
}

function mayRevoke({ id, owner, ancestors }: TokenDocument, context: RequestContext): boolean {
  const { caller, rights } = context;
  if (rights.everywhere("user_admin")) return true;
  if (caller.kind !== "user" || !isSameUser(owner, caller.owner)) return false;
  return mayUseMade(caller, { token: id, ancestors });
}

/** Returns the tokens in the form of the API, with their last uses. */
async function shownTokens({ parts }: Backend, found: readonly TokenDocument[]) {
  const { rows } = await parts.pool.query<{ token: string; ms: number }>(
    `select token, (extract(epoch from used_at) * 1000)::float8 as ms
     from gateway.token_uses where token = any($1)`,
    [found.map(({ id }) => id)],
  );
  const usedAtMs = new Map(rows.map(({ token, ms }) => [token, ms]));
  const state = await parts.access.state();
  return found.map((token) => {
    const shown = shownToken(token);
    const lastUsedAtMs = usedAtMs.get(token.id);
    const role = roleOf(state, shown.role)?.name ?? shown.role;
    return { ...shown, role, ...(lastUsedAtMs === undefined ? {} : { lastUsedAtMs }) };
  });
}

/** Returns the ancestors of a token that the caller creates. A session of a token counts as it; a person's has none. */
function ancestorsFor(caller: Caller): readonly string[] {
  const isOfToken = caller.kind === "user" && caller.token !== "";
  const ancestors = isOfToken ? [caller.token, ...caller.ancestors] : [];
  if (ancestors.length <= apiLimits.tokenAncestorsMax) return ancestors;
  const detail = `this token was created by a token that was created by another one, ${ancestors.length - 1} times: create tokens with one that is nearer to the first`;
  throw new Problem(400, "too_many_ancestors", detail);
}

/** Returns when a new token expires, 0 for never: not after its creator. */
function expiryOf(ttlSeconds: number, caller: Caller, nowMs: number): number {
  const end = endOf(caller);
  if (ttlSeconds === 0) return end?.ms ?? 0;
  const expiresAtMs = nowMs + ttlSeconds * 1_000;
  if (end !== undefined && expiresAtMs > end.ms) {
    const detail = `a token must not outlive the ${end.of} that creates it, which expires at ${new Date(end.ms).toISOString()}: reduce ttl_seconds, or leave it out to get the same end${end.of === "session" ? '; create a longer one with "yard token create"' : ""}`;
    throw new Problem(400, "outlives_its_creator", detail);
  }
  if (expiresAtMs > lastTimeMs) {
    const detail = "ttl_seconds is too large; leave it out for a token that does not expire";
    throw new Problem(400, "invalid_request", detail);
  }
  return expiresAtMs;
}

type End = { readonly of: "token" | "session"; readonly ms: number };

/** Returns when the caller ends by itself; undefined for never, for a time beyond any date, and for a person. */
function endOf(caller: Caller): End | undefined {
  if (caller.kind !== "user" || caller.token === "") return undefined;
  const { session, tokenExpiresAtMs = Number.POSITIVE_INFINITY } = caller;
  // A session that is unused ends at this time. A later use extends the session, and not the tokens that it made.
  const sessionMs = Math.floor(session?.expiresAtMs ?? Number.POSITIVE_INFINITY);
  if (sessionMs < tokenExpiresAtMs) return { of: "session", ms: sessionMs };
  return tokenExpiresAtMs > lastTimeMs ? undefined : { of: "token", ms: tokenExpiresAtMs };
}

/** A token that ends others can lock everybody out: the caller's own one must not be among them. */
function refuseOwnEnd(caller: Caller, token: string): void {
  if (caller.kind !== "user" || !caller.ancestors.includes(token)) return;
  const detail = `your token was created with ${token}, or with one that it created, and would end with it: revoke it with itself, or with a token that it did not create (docs/operate/deploy.md)`;
  throw new Problem(409, "ends_caller", detail);
}

function tokenIdFor(commitId: string): string {
  return createHash("sha256").update(`token ${commitId}`).digest("hex").slice(0, 16);
}

const isTaken = (error: unknown): boolean =>
  error instanceof Problem && error.code === "token_exists";

/** Makes the Problem for a repeated creation: the secret was in the first answer only, and is not stored. */
function unseen(id: string): Problem {
  const detail = `the token was issued, but the answer with its secret was lost: revoke ${id} and create another`;
  return new Problem(409, "token_exists", detail);
}
