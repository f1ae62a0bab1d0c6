import { createHash, timingSafeEqual } from "node:crypto";
import { parseRunId } from "@trainyard/kernel";
import { readRunToken } from "@trainyard/runtime";
import type { TokenDocument } from "../core/views/documents.ts";
import { Problem } from "./problem.ts";

/** Who asks: a person's token, or a run with its own. */
export type Caller =
  | { readonly kind: "user"; readonly authid: string }
  | {
      readonly kind: "run";
      readonly authid: string;
      readonly allocation: string;
      readonly trial: string;
      readonly run: number;
      /** The caller knows of everything up to here. */
      readonly grantPosition: number;
    };

export type TokenLookup = (id: string) => Promise<TokenDocument | undefined>;

/** ty_<token id>_<secret> */
const userTokenPattern = /^ty_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

export function digestOfSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export async function authenticate(
  authorization: string | undefined,
  runTokenKeys: ReadonlyMap<string, Buffer>,
  lookUp: TokenLookup,
  nowMs: number,
): Promise<Caller> {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) {
    throw new Problem(401, "no_token", "send a token in the header Authorization: Bearer …");
  }
  if (token.startsWith("ty1.")) return runCaller(token, runTokenKeys);
  return userCaller(token, lookUp, nowMs);
}

function runCaller(token: string, keys: ReadonlyMap<string, Buffer>): Caller {
  const content = readRunToken(keys, token);
  const parts = content === null ? null : parseRunId(content.allocation);
  if (content === null || parts === null) throw invalidToken();
  return {
    kind: "run",
    authid: `run:${content.allocation}`,
    allocation: content.allocation,
    trial: parts.trial,
    run: parts.run,
    grantPosition: content.grantPosition,
  };
}

async function userCaller(token: string, lookUp: TokenLookup, nowMs: number): Promise<Caller> {
  const [, id, secret] = userTokenPattern.exec(token) ?? [];
  if (id === undefined || secret === undefined) throw invalidToken();
  const known = await lookUp(id);
  if (known === undefined) throw invalidToken();
  const shown = Buffer.from(digestOfSecret(secret), "hex");
  if (!timingSafeEqual(shown, Buffer.from(known.secretDigest, "hex"))) throw invalidToken();
  if (known.revoked) throw new Problem(401, "token_revoked", "this token was revoked");
  if (known.expiresAtMs !== undefined && known.expiresAtMs <= nowMs) {
    const expired = new Date(known.expiresAtMs).toISOString();
    throw new Problem(401, "token_expired", `this token expired at ${expired}; create a new one`);
  }
  return { kind: "user", authid: known.owner === "" ? `token:${id}` : known.owner };
}

function invalidToken(): Problem {
  return new Problem(401, "invalid_token", "invalid token: this cluster did not issue it");
}
