/**
 * The platform's file of credentials for object stores: a mapping for each kind of store. `gcs` has the content of a
 * Google service account's key file:
 *
 *     {"s3": {"access_key_id": "…", "secret_access_key": "…", "session_token": "…"},
 *      "gcs": {"type": "service_account", "client_email": "…", "private_key": "…"}}
 *
 * Without the file, each client searches the same places as its vendor's tools: environment, profile, role of the
 * instance.
 */
import { open } from "node:fs/promises";
import { Fault } from "@trainyard/kernel";
import { type StorageCredentials, storageCredentials } from "../storage-kinds.ts";

/** Mode bits that give access to group or others. */
const othersMask = 0o077;

/**
 * Throws a Fault `credentials_missing` for a file that others can read, or that does not have this form. No message
 * quotes the file's text.
 */
export async function readCredentialsFile(path: string): Promise<StorageCredentials> {
  const text = await readOwnFile(path);
  const all = mappingIn(parsed(path, text), path, "");
  try {
    return storageCredentials((name) => mappingIn(all, path, name));
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw unusable(path, error instanceof Error ? error.message : String(error));
  }
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

function unusable(path: string, why: string): Fault {
  const detail = `the credentials file ${path} cannot be used: ${why}`;
  return new Fault("credentials_missing", detail, { retry: "never", fields: { path } });
}
