import type { TokenLimit } from "@trainyard/access";
import { isRejection } from "@trainyard/kernel";
import type { CommitIdentity } from "@trainyard/runtime";
import type { Backend, BackendParts } from "../backend.ts";
import { digestOfSecret } from "../http/caller.ts";
import { problemOf } from "../http/problem.ts";
import type { TokenDocument } from "../read-model/core/views/documents.ts";
import { tokens } from "../streams.ts";

/** Issues a token with the given id and secret. Returns the position of its event. */
export async function issueToken(
  backend: Backend,
  identity: CommitIdentity,
  token: {
    readonly id: string;
    readonly secret: string;
    readonly label: string;
    readonly owner: string;
    readonly expiresAtMs: number;
    readonly ancestors: readonly string[];
    readonly limits: readonly TokenLimit[];
  },
): Promise<number> {
  const { label, owner, expiresAtMs, ancestors, limits } = token;
  const result = await backend.parts.executor.execute(identity, async (work) => {
    const decided = await work.decide(tokens, token.id, {
      type: "IssueToken",
      label,
      owner,
      expiresAtMs,
      ancestors,
      limits,
      secretDigest: digestOfSecret(token.secret),
    });
    return isRejection(decided) ? decided : undefined;
  });
  if (isRejection(result)) throw problemOf(result);
  return result.position;
}

/** Finds tokens by their ids. One counts as revoked if one that it descends from was revoked. */
export async function findTokens(
  parts: Pick<BackendParts, "documents" | "pool">,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TokenDocument>> {
  const keys = ids.map((id) => ({ kind: "token", id }) as const);
  const rows = await parts.documents.fetch(parts.pool, keys);
  const found = rows.flatMap((row) => (row.kind === "token" ? [row.doc] : []));
  const tokens = await endedWithAncestors(parts, found);
  return new Map(tokens.map((token) => [token.id, token]));
}

/** Returns the tokens, with those as revoked that descend from a revoked one. */
export async function endedWithAncestors(
  { documents, pool }: Pick<BackendParts, "documents" | "pool">,
  tokens: readonly TokenDocument[],
): Promise<readonly TokenDocument[]> {
  const ancestors = new Set(tokens.flatMap((token) => (token.revoked ? [] : token.ancestors)));
  const rows = await documents.fetch(
    pool,
    [...ancestors].map((id) => ({ kind: "token", id })),
  );
  const revoked = new Set(
    rows.flatMap((row) => (row.kind === "token" && row.doc.revoked ? [row.id] : [])),
  );
  return tokens.map((token) =>
    token.ancestors.some((id) => revoked.has(id)) ? { ...token, revoked: true } : token,
  );
}
