/** Parses the text of a body. JSON is limited in depth, and its base64 fields are decoded. */
import { createHash } from "node:crypto";
import { httpLimits } from "./limits.ts";

export type BodyText = {
  readonly body: Uint8Array;
  /** The method and URL of the request, which are hashed before the body. */
  readonly prefix: string;
  /** The top-level fields that are bytes, sent as base64. */
  readonly byteFields: readonly string[];
};

export type ReadBody =
  | {
      readonly kind: "read";
      readonly json: unknown;
      readonly bytes: Readonly<Record<string, Uint8Array<ArrayBuffer>>>;
      readonly digest: string;
    }
  | { readonly kind: "refused"; readonly detail: string };

/** Base64 in the two alphabets of RFC 4648, with or without padding. */
const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Parses a body like `parseBody`. Returns also the digest, and decoded byte fields apart from the JSON. */
export function readBodyText({ body, prefix, byteFields }: BodyText): ReadBody {
  const parsed = parseBody(body);
  if (parsed.kind === "refused") return parsed;
  const { json } = parsed;
  const digest = digestOfRequest(prefix, json);
  const bytes: Record<string, Uint8Array<ArrayBuffer>> = {};
  if (typeof json !== "object" || json === null) return { kind: "read", json, bytes, digest };
  const fields = json as Record<string, unknown>;
  for (const name of byteFields) {
    const text = fields[name];
    if (typeof text !== "string") continue;
    if (!base64.test(text)) return { kind: "refused", detail: `${name} is not base64` };
    bytes[name] = new Uint8Array(Buffer.from(text, "base64"));
    delete fields[name];
  }
  return { kind: "read", json, bytes, digest };
}

export function digestOfRequest(prefix: string, json: unknown): string {
  const text = JSON.stringify(json ?? null);
  return createHash("sha256").update(prefix).update(text).digest("hex");
}

export function parseBody(
  body: Uint8Array,
): { readonly kind: "parsed"; readonly json: unknown } | { kind: "refused"; detail: string } {
  const { bodyDepthMax: most, bodySeparatorsMax } = httpLimits;
  if (hasMoreSeparators(body, bodySeparatorsMax)) {
    const detail = `the body has more than ${bodySeparatorsMax} commas and brackets`;
    return { kind: "refused", detail };
  }
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"));
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { kind: "refused", detail: `the body is not valid JSON: ${detail}` };
  }
  if (!isDeeper(json, most)) return { kind: "parsed", json };
  const detail = `the body is nested more than ${most} levels deep`;
  return { kind: "refused", detail };
}

/** Each value but the first follows a separator, so their number bounds the memory and time of parsing. */
function hasMoreSeparators(body: Uint8Array, most: number): boolean {
  if (body.length <= most) return false;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let found = 0;
  for (const separator of [",", "[", "{"]) {
    for (let at = bytes.indexOf(separator); at >= 0; at = bytes.indexOf(separator, at + 1)) {
      found += 1;
      if (found > most) return true;
    }
  }
  return false;
}

/** Walks level by level, since recursion could exhaust the stack. */
function isDeeper(value: unknown, most: number): boolean {
  let level = [value];
  for (let depth = 0; depth <= most; depth += 1) {
    level = level.flatMap((one) =>
      typeof one === "object" && one !== null ? (Object.values(one) as unknown[]) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}
