import { createHash, randomBytes } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import type { CreateTokenRequest, RevokeTokenRequest } from "@trainyard/contracts/api";
import { isRejection } from "@trainyard/kernel";
import type { Aggregate, CommitIdentity } from "@trainyard/runtime";
import {
  type TokenCommand,
  type TokenEvent,
  type TokenState,
  tokenDecider,
} from "../core/token/decide.ts";
import { gatewayLimits } from "../limits.ts";
import { digestOfSecret } from "../http/caller.ts";
import { notFound, Problem, problemOf } from "../http/problem.ts";
import type { Handlers, RequestContext } from "../http/request-context.ts";
import type { Backend } from "../shell/backend.ts";
import { pageOf, pageSize } from "./paging.ts";
import { shownToken } from "./shown.ts";

const tokens: Aggregate<TokenState, TokenCommand, TokenEvent> = {
  name: "token",
  category: "token",
  decider: tokenDecider,
};

export function identityOf(context: RequestContext): CommitIdentity {
  return {
    commitId: context.commitId,
    meta: {
      source: "/trainyard/gateway",
      workspace: "",
      correlationid: "",
      causationid: context.commitId,
      authid: context.caller.authid,
      traceparent: context.traceparent,
    },
  };
}

/** Issues a token under an id and a secret that the caller drew; the position of its event. */
export async function issueToken(
  backend: Backend,
  identity: CommitIdentity,
  token: {
    readonly id: string;
    readonly secret: string;
    readonly label: string;
    readonly owner: string;
    readonly expiresAtMs: number;
  },
): Promise<number> {
  const { label, owner, expiresAtMs } = token;
  const result = await backend.parts.executor.execute(identity, async (work) => {
    const decided = await work.decide(tokens, token.id, {
      type: "IssueToken",
      label,
      owner,
      expiresAtMs,
      secretDigest: digestOfSecret(token.secret),
    });
    return isRejection(decided) ? decided : undefined;
  });
  if (isRejection(result)) throw problemOf(result);
  return result.position;
}

export function newToken(id: string = randomBytes(8).toString("hex")): {
  readonly id: string;
  readonly secret: string;
  readonly text: string;
} {
  const secret = randomBytes(32).toString("base64url");
  return { id, secret, text: `ty_${id}_${secret}` };
}

export function tokenHandlers(backend: Backend): Handlers["unary"] {
  return {
    "ClusterService.CreateToken": async (
      request: Plain<CreateTokenRequest>,
      context: RequestContext,
    ) => {
      const { ttlSeconds, label } = request;
      if (!(ttlSeconds >= 0)) {
        throw new Problem(400, "invalid_request", "ttl_seconds must be 0 or more");
      }
      const { tokenLabelCharactersMax: most } = gatewayLimits;
      if (label.length > most) {
        const detail = `the label has ${label.length} characters; give one of at most ${most}`;
        throw new Problem(400, "invalid_request", detail);
      }
      const expiresAtMs = ttlSeconds === 0 ? 0 : backend.parts.clock.nowMs() + ttlSeconds * 1_000;
      // A repeat under one idempotency key names the same token.
      const token = newToken(tokenIdFor(context.commitId));
      const { authid: owner } = context.caller;
      const drawn = { ...token, label, owner, expiresAtMs };
      const position = await issueToken(backend, identityOf(context), drawn).catch(
        (error: unknown) => {
          throw isTaken(error) ? unseen(token.id) : error;
        },
      );
      await backend.reach(position);
      return { token: shownToken(await backend.get("token", token.id)), secret: token.text };
    },
    "ClusterService.ListTokens": async () => {
      const position = backend.position;
      const size = pageSize(0);
      const rows = await backend.parts.documents.list(backend.parts.pool, "token", {
        limit: 10 * size,
      });
      const page = pageOf(rows, 10 * size);
      return { items: page.rows.map(({ doc }) => shownToken(doc)), nextPageToken: "", position };
    },
    "ClusterService.RevokeToken": async (
      request: Plain<RevokeTokenRequest>,
      context: RequestContext,
    ) => {
      if ((await backend.find("token", request.token)) === undefined) {
        throw notFound("token", request.token);
      }
      const reason = `revoked by ${context.caller.authid}`;
      const result = await backend.parts.executor.execute(identityOf(context), async (work) => {
        const decided = await work.decide(tokens, request.token, { type: "RevokeToken", reason });
        return isRejection(decided) ? decided : undefined;
      });
      if (isRejection(result)) throw problemOf(result);
      await backend.reach(result.position);
      return { position: String(result.position || backend.position) };
    },
  };
}

function tokenIdFor(commitId: string): string {
  return createHash("sha256").update(`token ${commitId}`).digest("hex").slice(0, 16);
}

const isTaken = (error: unknown): boolean =>
  error instanceof Problem && error.code === "token_exists";

/** Secrets are shown once, and kept nowhere. */
function unseen(id: string): Problem {
  const detail = `the token was issued, but the answer with its secret was lost: revoke ${id} and create another`;
  return new Problem(409, "token_exists", detail);
}
