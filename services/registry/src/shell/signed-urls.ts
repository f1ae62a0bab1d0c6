/** Signed addresses of model code, valid for a few minutes: each gives access to one file only. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { registryLimits } from "../limits.ts";

const digestPattern = /^[0-9a-f]{64}$/;

export const isContextDigest = (text: string): boolean => digestPattern.test(text);

/** The key has the digest, and the number of earlier deletions of code with that digest. */
const keyPattern = /^contexts\/[0-9a-f]{64}(\.[1-9][0-9]{0,8})?\.tar\.gz$/;

function signature(secret: Buffer, key: string, expiresMs: string): string {
  const text = `trainyard-context\n2\n${key}\n${expiresMs}`;
  return createHmac("sha256", secret).update(text).digest("base64url");
}

/** Returns the signed address of a model code blob, by its key. */
export function signedContextPath(secret: Buffer, key: string, nowMs: number): string {
  const expires = String(nowMs + registryLimits.contextUrlMs);
  return `/${key}?expires=${expires}&signature=${signature(secret, key, expires)}`;
}

export type Fetch =
  | { readonly kind: "granted"; readonly key: string }
  | { readonly kind: "expired" | "forbidden" | "elsewhere" };

/** Returns the key in a request's address if its signature is valid and has not expired. */
export function readContextPath(secret: Buffer, url: string, nowMs: number): Fetch {
  const parsed = URL.parse(url, "http://registry");
  const key = parsed?.pathname.slice(1) ?? "";
  if (parsed === null || !keyPattern.test(key)) return { kind: "elsewhere" };
  const expires = parsed.searchParams.get("expires") ?? "";
  const given = Buffer.from(parsed.searchParams.get("signature") ?? "");
  const expected = Buffer.from(signature(secret, key, expires));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return { kind: "forbidden" };
  }
  return Number(expires) < nowMs ? { kind: "expired" } : { kind: "granted", key };
}
