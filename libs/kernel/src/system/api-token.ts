/** The form of a user's API token: `ty_ID_SECRET`, with 8 and 32 random bytes. */
import { randomBytes } from "node:crypto";

export type ApiToken = {
  readonly id: string;
  readonly secret: string;
  readonly text: string;
};

export function newApiToken(id: string = randomBytes(8).toString("hex")): ApiToken {
  const secret = randomBytes(32).toString("base64url");
  return { id, secret, text: `ty_${id}_${secret}` };
}

/** Returns the parts of a token; null for any other text. */
export function readApiToken(text: string): ApiToken | null {
  const [, id, secret] = /^ty_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/.exec(text) ?? [];
  return id === undefined || secret === undefined ? null : { id, secret, text };
}
