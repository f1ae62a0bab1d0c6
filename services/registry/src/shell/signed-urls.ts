/** Addresses of model code that hold for a few minutes: whoever has one may fetch that one file, and nothing else. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { registryLimits } from "../limits.ts";

const digestPattern = /^[0-9a-f]{64}$/;

export const isContextDigest = (text: string): boolean => digestPattern.test(text);

export const contextKey = (digest: string): string => `contexts/${digest}.tar.gz`;

function signature(key: Buffer, digest: string, expiresMs: string): string {
  const text = `trainyard-context\n1\n${digest}\n${expiresMs}`;
  return createHmac("sha256", key).update(text).digest("base64url");
}

export function signedContextPath(key: Buffer, digest: string, nowMs: number): string {
  const expires = String(nowMs + registryLimits.contextUrlMs);
  return `/contexts/${digest}.tar.gz?expires=${expires}&signature=${signature(key, digest, expires)}`;
}

export type Fetch =
  | { readonly kind: "granted"; readonly digest: string }
  | { readonly kind: "expired" | "forbidden" | "elsewhere" };

/** The code that a request's address names, if its signature is right and has not expired. */
export function readContextPath(key: Buffer, url: string, nowMs: number): Fetch {
  const parsed = URL.parse(url, "http://registry");
  const digest = /^\/contexts\/([0-9a-f]{64})\.tar\.gz$/.exec(parsed?.pathname ?? "")?.[1];
  if (parsed === null || digest === undefined) return { kind: "elsewhere" };
  const expires = parsed.searchParams.get("expires") ?? "";
  const given = Buffer.from(parsed.searchParams.get("signature") ?? "");
  const expected = Buffer.from(signature(key, digest, expires));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return { kind: "forbidden" };
  }
  return Number(expires) < nowMs ? { kind: "expired" } : { kind: "granted", digest };
}
