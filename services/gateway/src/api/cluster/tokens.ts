import { createHash } from "node:crypto";
import { isRejection } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import type { Caller } from "../../http/caller.ts";
import { notFound, Problem, problemOf } from "../../http/problem.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";
import { ownCommit } from "../../spaces/own-commit.ts";
import { endedWithAncestors, issueToken, newToken } from "../../spaces/tokens.ts";
import { tokens } from "../../streams.ts";
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
      // A repeat with the same idempotency key has the same token id.
      const token = newToken(tokenIdFor(context.commitId));
      if ((await backend.find("token", token.id)) !== undefined) throw unseen(token.id);
      const expiresAtMs = expiryOf(ttlSeconds, context.caller, backend.parts.clock.nowMs());
      const { authid: owner } = context.caller;
      const ancestors = ancestorsFor(context.caller);
      const limits = context.caller.kind === "user" ? context.caller.limits : [];
      const drawn = { ...token, label, owner, expiresAtMs, ancestors, limits };
      const position = await issueToken(backend, ownCommit(context), drawn).catch(
        (error: unknown) => {
          throw isTaken(error) ? unseen(token.id) : error;
        },
      );
      await backend.reach(position);
      return { token: shownToken(await backend.get("token", token.id)), secret: token.text };
    },
    listTokens: async (request) => {
      await backend.reachText(request.minPosition);
      const page = await listPage(backend, "token", request);
      const items = await endedWithAncestors(backend.parts, page.items);
      return { ...page, items: items.map(shownToken) };
    },
    revokeToken: async (request, context) => {
      if ((await backend.find("token", request.token)) === undefined) {
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

/** Returns the ancestors of a token that the caller creates. A session counts as its token. */
function ancestorsFor(caller: Caller): readonly string[] {
  const ancestors = caller.kind === "user" ? [caller.token, ...caller.ancestors] : [];
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

/** Returns when the caller ends by itself; undefined for never, and for a time beyond any date. */
function endOf(caller: Caller): End | undefined {
  if (caller.kind !== "user") return undefined;
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
