import { randomBytes } from "node:crypto";
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
    readonly makers: readonly string[];
  },
): Promise<number> {
  const { label, owner, expiresAtMs, makers } = token;
  const result = await backend.parts.executor.execute(identity, async (work) => {
    const decided = await work.decide(tokens, token.id, {
      type: "IssueToken",
      label,
      owner,
      expiresAtMs,
      makers,
      secretDigest: digestOfSecret(token.secret),
    });
    return isRejection(decided) ? decided : undefined;
  });
  if (isRejection(result)) throw problemOf(result);
  return result.position;
}

/** Finds a token. One whose maker was revoked, or a maker of that, counts as revoked. */
export async function findToken(
  parts: Pick<BackendParts, "documents" | "pool">,
  id: string,
): Promise<TokenDocument | undefined> {
  const found = await parts.documents.get(parts.pool, "token", id);
  if (found === undefined) return undefined;
  const [token] = await endedWithMakers(parts, [found]);
  return token;
}

export async function endedWithMakers(
  { documents, pool }: Pick<BackendParts, "documents" | "pool">,
  tokens: readonly TokenDocument[],
): Promise<readonly TokenDocument[]> {
  const makers = new Set(tokens.flatMap((token) => (token.revoked ? [] : token.makers)));
  const rows = await documents.fetch(
    pool,
    [...makers].map((id) => ({ kind: "token", id })),
  );
  const revoked = new Set(
    rows.flatMap((row) => (row.kind === "token" && row.doc.revoked ? [row.id] : [])),
  );
  return tokens.map((token) =>
    token.makers.some((id) => revoked.has(id)) ? { ...token, revoked: true } : token,
  );
}

export function newToken(id: string = randomBytes(8).toString("hex")): {
  readonly id: string;
  readonly secret: string;
  readonly text: string;
} {
  const secret = randomBytes(32).toString("base64url");
  return { id, secret, text: `ty_${id}_${secret}` };
}
