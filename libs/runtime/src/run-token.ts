/**
 * A run's token, with which a training process authenticates to gateway, metrics and registry. It is a MAC over the
 * allocation's id and the position of its grant. So any replica of the scheduler derives the same token, and a receiver
 * with the key reads from the token which run calls and which log position its fold must have reached.
 *
 *   ty1.<key id>.<base64url(allocation)>.<grant position>.<base64url(mac)>
 *   mac = HMAC-SHA256(key, "trainyard-run-token\n1\n" + allocation + "\n" + grant position)
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

export type SigningKey = { readonly id: string; readonly secret: Buffer };

export type RunTokenContent = { readonly allocation: string; readonly grantPosition: number };

function mac(secret: Buffer | KeyObject, allocation: string, grantPosition: string): Buffer {
  return createHmac("sha256", secret)
    .update(`trainyard-run-token\n1\n${allocation}\n${grantPosition}`)
    .digest();
}

export function runToken(key: SigningKey, allocation: string, grantPosition: number): string {
  const position = String(grantPosition);
  const name = Buffer.from(allocation).toString("base64url");
  return `ty1.${key.id}.${name}.${position}.${mac(key.secret, allocation, position).toString("base64url")}`;
}

/**
 * Returns the claims of a valid token; null for any other text. `keys` are the valid keys by id, as key objects: Node
 * prepares these once, but a buffer for each token.
 */
export function readRunToken(
  keys: ReadonlyMap<string, KeyObject>,
  token: string,
): RunTokenContent | null {
  const match =
    /^ty1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([0-9]{1,15})\.([A-Za-z0-9_-]{43})$/.exec(token);
  const [, keyId, name, position, given] = match ?? [];
  const secret = keys.get(keyId ?? "");
  if (secret === undefined || name === undefined || position === undefined || given === undefined) {
    return null;
  }
  const allocation = Buffer.from(name, "base64url").toString("utf8");
  const expected = mac(secret, allocation, position);
  const shown = Buffer.from(given, "base64url");
  if (shown.length !== expected.length || !timingSafeEqual(shown, expected)) return null;
  return { allocation, grantPosition: Number(position) };
}
