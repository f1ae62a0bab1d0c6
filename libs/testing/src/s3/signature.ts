/**
 * Signature version 4 of AWS as a server checks it: the header `Authorization`, or the query of a presigned request.
 *
 * The canonical request is method, path, query, signed headers and the digest of the payload; the string to sign names
 * its SHA-256, the time and the scope (day/region/s3/aws4_request); the key is derived from the secret by the parts of
 * the scope. Source: "Authenticating Requests (AWS Signature Version 4)" in the API reference of Amazon S3. The tests
 * use its examples. SigV4A (asymmetric) and POST forms are not supported.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { S3Error } from "./errors.ts";

export type SignedRequest = {
  readonly method: string;
  /** The path as sent, percent-encoded. */
  readonly path: string;
  /** The decoded parameters, in the order in which they were sent. */
  readonly query: readonly (readonly [string, string])[];
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
};

export type Signature = {
  readonly where: "header" | "query";
  readonly accessKey: string;
  /** The time, such as `20130524T000000Z`. */
  readonly at: string;
  readonly day: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** The lifetime of a presigned request. */
  readonly expiresSeconds: number | null;
  /** A hex digest, UNSIGNED-PAYLOAD, or the name of a streaming form. */
  readonly payload: string;
};

const algorithm = "AWS4-HMAC-SHA256";
const expiresSecondsMax = 7 * 24 * 3_600;

export function sha256Hex(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

export function hmac(key: string | Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

export function signingKey(secret: string, { day, region, service }: Signature): Buffer {
  return hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), service), "aws4_request");
}

export function scopeOf({ day, region, service }: Signature): string {
  return `${day}/${region}/${service}/aws4_request`;
}

/** Returns null for an unsigned request. */
export function readSignature(request: SignedRequest): Signature | null {
  const query = new Map(request.query);
  if (query.has("X-Amz-Algorithm")) return readQuery(request, query);
  const header = request.headers["authorization"];
  return header === undefined ? null : readHeader(request, header);
}

function readHeader(request: SignedRequest, header: string): Signature {
  const malformed = (detail: string): S3Error =>
    new S3Error(400, "AuthorizationHeaderMalformed", detail);
  const [name, rest = ""] = header.split(/ (.*)/s);
  if (name !== algorithm) throw new S3Error(400, "InvalidRequest", `Use ${algorithm}.`);
  const fields = new Map(
    rest.split(",").map((field) => {
      const [key = "", value = ""] = field.trim().split(/=(.*)/s);
      return [key, value] as const;
    }),
  );
  const at = request.headers["x-amz-date"];
  const payload = request.headers["x-amz-content-sha256"];
  if (at === undefined) throw new S3Error(403, "AccessDenied", "x-amz-date is missing");
  if (payload === undefined) {
    throw new S3Error(400, "InvalidRequest", "Missing required header: x-amz-content-sha256");
  }
  return {
    where: "header",
    ...credentialIn(fields.get("Credential"), at, malformed),
    at,
    signedHeaders: (fields.get("SignedHeaders") ?? "").split(";"),
    signature: fields.get("Signature") ?? "",
    expiresSeconds: null,
    payload,
  };
}

function readQuery(request: SignedRequest, query: ReadonlyMap<string, string>): Signature {
  const malformed = (detail: string): S3Error =>
    new S3Error(400, "AuthorizationQueryParametersError", detail);
  const of = (name: string): string => {
    const value = query.get(name);
    if (value === undefined) throw malformed(`${name} is missing`);
    return value;
  };
  if (of("X-Amz-Algorithm") !== algorithm) throw malformed(`X-Amz-Algorithm is ${algorithm}`);
  if (request.headers["authorization"] !== undefined) {
    throw new S3Error(400, "InvalidArgument", "Only one auth mechanism allowed");
  }
  const expires = Number(of("X-Amz-Expires"));
  if (!Number.isInteger(expires) || expires < 1 || expires > expiresSecondsMax) {
    throw malformed("X-Amz-Expires must be between 1 and 604800 seconds");
  }
  const at = of("X-Amz-Date");
  return {
    where: "query",
    ...credentialIn(of("X-Amz-Credential"), at, malformed),
    at,
    signedHeaders: of("X-Amz-SignedHeaders").split(";"),
    signature: of("X-Amz-Signature"),
    expiresSeconds: expires,
    payload: query.get("X-Amz-Content-Sha256") ?? "UNSIGNED-PAYLOAD",
  };
}

type Credential = Pick<Signature, "accessKey" | "day" | "region" | "service">;

function credentialIn(
  text: string | undefined,
  at: string,
  malformed: (detail: string) => S3Error,
): Credential {
  const [accessKey = "", day = "", region = "", service = "", end, ...more] = (text ?? "").split(
    "/",
  );
  if (end !== "aws4_request" || more.length > 0) throw malformed("the credential is mal-formed");
  if (!/^\d{8}T\d{6}Z$/.test(at)) throw malformed(`${at} is no time`);
  if (!at.startsWith(day)) throw malformed("the credential's day is not that of the request");
  if (service !== "s3") throw malformed(`the service is s3, not ${service}`);
  return { accessKey, day, region, service };
}

/** Encodes all but letters, digits and `-._~` (RFC 3986). */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function canonicalPath(path: string): string {
  return path
    .split("/")
    .map((part) => percentEncode(decodeURIComponent(part)))
    .join("/");
}

const pairsInOrder = (a: readonly [string, string], b: readonly [string, string]): number =>
  a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? -1 : 1;

function canonicalRequest(request: SignedRequest, signature: Signature): string {
  const query = request.query
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [percentEncode(name), percentEncode(value)] as const)
    .toSorted(pairsInOrder)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const headers = signature.signedHeaders.map(
    (name) => `${name}:${(request.headers[name] ?? "").trim().replace(/ +/g, " ")}\n`,
  );
  return [
    request.method,
    canonicalPath(request.path),
    query,
    headers.join(""),
    signature.signedHeaders.join(";"),
    signature.payload,
  ].join("\n");
}

/** Returns the expected signature, in hex. */
export function expectedSignature(
  request: SignedRequest,
  signature: Signature,
  secret: string,
): string {
  const canonical = sha256Hex(canonicalRequest(request, signature));
  const text = [algorithm, signature.at, scopeOf(signature), canonical].join("\n");
  return hmac(signingKey(secret, signature), text).toString("hex");
}

export function sameHex(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** Returns the milliseconds of a time such as `20130524T000000Z`. */
export function timeOf(at: string): number {
  return Date.parse(at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}
