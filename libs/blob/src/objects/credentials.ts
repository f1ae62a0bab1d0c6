/**
 * The platform's file of credentials for object stores. `gcs` has the content of a Google service account's key file:
 *
 *     {"s3": {"access_key_id": "…", "secret_access_key": "…", "session_token": "…"},
 *      "gcs": {"type": "service_account", "client_email": "…", "private_key": "…"}}
 *
 * Without the file, each client searches the same places as its vendor's tools: environment, profile, role of the
 * instance.
 */
import { createPrivateKey } from "node:crypto";
import { open } from "node:fs/promises";
import { Fault } from "@trainyard/kernel";
import type { GcsCredentials } from "./gcs/options.ts";
import type { S3Credentials } from "./s3/options.ts";

export type StorageCredentials = { readonly s3?: S3Credentials; readonly gcs?: GcsCredentials };

/** Mode bits that give access to group or others. */
const othersMask = 0o077;

/**
 * Throws a Fault `credentials_missing` for a file that others can read, or that does not have this form. No message
 * quotes the file's text.
 */
export async function readCredentialsFile(path: string): Promise<StorageCredentials> {
  const text = await readOwnFile(path);
  const all = mappingIn(parsed(path, text), path, "");
  const [s3, gcs] = [mappingIn(all, path, "s3"), mappingIn(all, path, "gcs")];
  return {
    ...(s3 === null ? {} : { s3: readS3(s3, path) }),
    ...(gcs === null ? {} : { gcs: readGcs(gcs, path) }),
  };
}

function readS3(s3: Mapping, path: string): S3Credentials {
  const [accessKeyId, secretAccessKey, sessionToken] = [
    textIn(s3["access_key_id"]),
    textIn(s3["secret_access_key"]),
    textIn(s3["session_token"]),
  ];
  if (accessKeyId === null || secretAccessKey === null) {
    throw unusable(path, "s3 has no access_key_id or no secret_access_key");
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) };
}

function readGcs(gcs: Mapping, path: string): GcsCredentials {
  const [clientEmail, privateKey] = [textIn(gcs["client_email"]), textIn(gcs["private_key"])];
  if (clientEmail === null || privateKey === null) {
    throw unusable(
      path,
      "gcs is no key of a service account: client_email or private_key is missing",
    );
  }
  try {
    createPrivateKey(privateKey);
  } catch {
    // The crypto error is not passed on: it may quote the key.
    throw unusable(path, "private_key of gcs is not a private key in PEM");
  }
  return { clientEmail, privateKey };
}

async function readOwnFile(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { mode } = await file.stat();
    if ((mode & othersMask) === 0) return await file.readFile("utf8");
    const bits = (mode & 0o777).toString(8).padStart(4, "0");
    throw unusable(path, `its mode is ${bits}, so that others can read it: run chmod 600 on it`);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw unusable(path, error instanceof Error ? error.message : String(error));
  }
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's error is not passed on: it quotes the text.
    throw unusable(path, "it is not JSON");
  }
}

type Mapping = Readonly<Record<string, unknown>>;

/** Returns the mapping at a key, null if absent; for the key "" the value itself. */
function mappingIn(value: unknown, path: string, key: string): Mapping | null {
  const found = key === "" ? value : (value as Mapping | null)?.[key];
  if (found === undefined) return null;
  if (typeof found === "object" && found !== null && !Array.isArray(found)) return found as Mapping;
  throw unusable(path, key === "" ? "it is not a mapping" : `${key} is not a mapping`);
}

const textIn = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

function unusable(path: string, why: string): Fault {
  const detail = `the credentials file ${path} cannot be used: ${why}`;
  return new Fault("credentials_missing", detail, { retry: "never", fields: { path } });
}
