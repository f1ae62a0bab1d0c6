import { randomBytes } from "node:crypto";
import { isRejection } from "@trainyard/kernel";
import type { CommitIdentity } from "@trainyard/runtime";
import type { Backend } from "../backend.ts";
import { digestOfSecret } from "../http/caller.ts";
import { problemOf } from "../http/problem.ts";
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
