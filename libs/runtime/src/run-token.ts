/**
 * A run's token, with which a training process authenticates to gateway, metrics and logs. It is a MAC over the
 * allocation's id and its grant: the position and the id of the event AllocationGranted. So any replica of the
 * scheduler derives the same token, and a receiver with the key reads from it which run calls. After a restore a log
 * may give the same allocation again, even at the same position, but never an event's id: `RunGrants` compares it with
 * the log.
 *
 *   ty1.<key id>.<base64url(allocation)>.<grant position>.<grant event id>.<base64url(mac)>
 *   mac = HMAC-SHA256(key, "trainyard-run-token\n1\n" + allocation + "\n" + grant position + "\n" + grant event id)
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

export type SigningKey = { readonly id: string; readonly secret: Buffer };

export type RunTokenContent = {
  readonly allocation: string;
  readonly grantPosition: number;
  /** The id of the event at that position, which granted the run. */
  readonly grantId: string;
};

type Claims = readonly [allocation: string, grantPosition: string, grantId: string];

function mac(secret: Buffer | KeyObject, claims: Claims): Buffer {
  return createHmac("sha256", secret)
    .update(`trainyard-run-token\n1\n${claims.join("\n")}`)
    .digest();
}

export function runToken(
  key: SigningKey,
  { allocation, grantPosition, grantId }: RunTokenContent,
): string {
  const position = String(grantPosition);
  const name = Buffer.from(allocation).toString("base64url");
  const signed = mac(key.secret, [allocation, position, grantId]).toString("base64url");
  return `ty1.${key.id}.${name}.${position}.${grantId}.${signed}`;
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
    /^ty1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([0-9]{1,15})\.([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/.exec(
      token,
    );
  const [, keyId = "", name = "", position = "", grantId = "", given = ""] = match ?? [];
  const secret = keys.get(keyId);
  if (match === null || secret === undefined) return null;
  const allocation = Buffer.from(name, "base64url").toString("utf8");
  const expected = mac(secret, [allocation, position, grantId]);
  const shown = Buffer.from(given, "base64url");
  if (shown.length !== expected.length || !timingSafeEqual(shown, expected)) return null;
  return { allocation, grantPosition: Number(position), grantId };
}

/**
 * Returns the secret by which the server of a task's run knows the requests that came through the gateway. It is
 * derived from the key of the run's token, so that it is stored nowhere.
 */
export function taskSecret(key: Buffer | KeyObject, allocation: string): string {
  return createHmac("sha256", key)
    .update(`trainyard-task-secret\n1\n${allocation}`)
    .digest("base64url");
}
