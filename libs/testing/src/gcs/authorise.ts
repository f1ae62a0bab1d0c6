/**
 * Authorises a request. The JSON API accepts a JWT that a service account signed itself, like those of Google's clients
 * ("Using OAuth 2.0 for Server to Server Applications", self-signed JWT with a scope). Addresses of the XML API are
 * signed by version 4 ("V4 signing process", GOOG4-RSA-SHA256).
 */
import { createHash, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { GcsError } from "./errors.ts";

export type GcsAction =
  | "storage.objects.create"
  | "storage.objects.delete"
  | "storage.objects.get"
  | "storage.objects.list";

export type GcsUser = {
  readonly email: string;
  /** The key in PEM. */
  readonly publicKey: string;
};

/** The content of a service account's key file. */
export type GcsAccount = {
  readonly type: "service_account";
  readonly project_id: string;
  readonly private_key_id: string;
  readonly private_key: string;
  readonly client_email: string;
};

export function newAccount(name: string): GcsAccount {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  return {
    type: "service_account",
    project_id: "test-project",
    private_key_id: createHash("sha256").update(name).digest("hex").slice(0, 40),
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    client_email: `${name}@test-project.iam.gserviceaccount.com`,
  };
}

export function userOf({ client_email: email, private_key }: GcsAccount): GcsUser {
  const key = createPublicKey(private_key);
  return { email, publicKey: key.export({ type: "spki", format: "pem" }) as string };
}

const scopes = /\/auth\/(devstorage\.(full_control|read_write)|cloud-platform)\b/;
const skewMsMax = 15 * 60_000;
const unauthorised = (): GcsError => new GcsError(401, "authError", "Invalid Credentials");

/** Returns the user of the `authorization` header. */
export function userOfToken(
  header: string | undefined,
  users: readonly GcsUser[],
  nowMs: number,
): GcsUser {
  const [, token] = /^Bearer (.+)$/.exec(header ?? "") ?? [];
  if (token === undefined) {
    throw new GcsError(401, "required", "Anonymous caller does not have access to the bucket.");
  }
  const [head = "", body = "", signature = "", ...more] = token.split(".");
  const [header64, claims] = [claimsIn(head), claimsIn(body)];
  const user = users.find(({ email }) => email === claims["iss"]);
  const isSigned =
    user !== undefined &&
    more.length === 0 &&
    header64["alg"] === "RS256" &&
    verify(
      "RSA-SHA256",
      Buffer.from(`${head}.${body}`),
      user.publicKey,
      Buffer.from(signature, "base64url"),
    );
  if (!isSigned || claims["sub"] !== user.email) throw unauthorised();
  const [issuedMs, endMs] = [Number(claims["iat"]) * 1_000, Number(claims["exp"]) * 1_000];
  const isNow = issuedMs <= nowMs + skewMsMax && nowMs < endMs && endMs - issuedMs <= 3_600_000;
  if (!isNow) throw unauthorised();
  if (scopes.test(String(claims["scope"]))) return user;
  const detail = "Request had insufficient authentication scopes.";
  throw new GcsError(403, "insufficientPermissions", detail);
}

function claimsIn(part: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  } catch {
    throw unauthorised();
  }
}

export type SignedUrl = {
  readonly method: string;
  /** The path as sent, percent-encoded. */
  readonly path: string;
  /** The decoded query. */
  readonly query: ReadonlyMap<string, string>;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
};

const algorithm = "GOOG4-RSA-SHA256";
const expiresSecondsMax = 604_800;
const denied = (message: string): GcsError => new GcsError(403, "AccessDenied", message);
const malformed = (message: string): GcsError =>
  new GcsError(400, "AuthenticationRequired", message);

/** Returns the user that signed an address. */
export function userOfUrl(request: SignedUrl, users: readonly GcsUser[], nowMs: number): GcsUser {
  const { query, headers } = request;
  const of = (name: string): string => {
    const value = query.get(name);
    if (value === undefined) throw malformed(`${name} is missing`);
    return value;
  };
  if (of("X-Goog-Algorithm") !== algorithm) throw malformed(`the algorithm is ${algorithm}`);
  const [email = "", day = "", , service = "", end = "", ...more] =
    of("X-Goog-Credential").split("/");
  const at = of("X-Goog-Date");
  const isScope = service === "storage" && end === "goog4_request" && more.length === 0;
  if (!isScope || !/^\d{8}T\d{6}Z$/.test(at) || !at.startsWith(day)) {
    throw malformed("the credential is mal-formed");
  }
  const seconds = Number(of("X-Goog-Expires"));
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > expiresSecondsMax) {
    throw malformed("X-Goog-Expires must be between 1 and 604800 seconds");
  }
  const names = of("X-Goog-SignedHeaders").split(";");
  const unsigned = Object.keys(headers).filter(
    (name) => /^(x-goog-|content-md5$)/.test(name) && !names.includes(name),
  );
  if (!names.includes("host") || unsigned.length > 0) {
    const which = unsigned.join(", ") || "host";
    throw new GcsError(400, "MalformedSecurityHeader", `Header was not signed: ${which}`);
  }
  const user = users.find((one) => one.email === email);
  const text = stringToSign(request, names, at, `${day}/${of("X-Goog-Credential").split("/")[2]}`);
  const signature = Buffer.from(of("X-Goog-Signature"), "hex");
  if (user === undefined || !verify("RSA-SHA256", Buffer.from(text), user.publicKey, signature)) {
    const detail = "Access denied. The request signature we calculated does not match.";
    throw new GcsError(403, "SignatureDoesNotMatch", detail);
  }
  const atMs = timeOf(at);
  if (atMs > nowMs + skewMsMax) throw denied("Request is not valid yet");
  if (nowMs >= atMs + seconds * 1_000) {
    throw new GcsError(400, "ExpiredToken", "The provided token has expired.");
  }
  return user;
}

function stringToSign(request: SignedUrl, names: readonly string[], at: string, scope: string) {
  const { method, path, query, headers } = request;
  const pairs = [...query]
    .filter(([name]) => name !== "X-Goog-Signature")
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .toSorted();
  const lines = names.map((name) => {
    // Google's clients sign the host's name without the port.
    const value = (name === "host" ? headers["host"]?.replace(/:\d+$/, "") : headers[name]) ?? "";
    return `${name}:${value.trim().replace(/\s+/g, " ")}\n`;
  });
  const payload = headers["x-goog-content-sha256"] ?? "UNSIGNED-PAYLOAD";
  const canonical = [method, path, pairs.join("&"), lines.join(""), names.join(";"), payload];
  const hash = createHash("sha256").update(canonical.join("\n")).digest("hex");
  return [algorithm, at, `${scope}/storage/goog4_request`, hash].join("\n");
}

function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns the milliseconds of a time such as `20130524T000000Z`. */
function timeOf(at: string): number {
  return Date.parse(at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}
