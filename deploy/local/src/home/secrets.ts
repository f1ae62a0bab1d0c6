import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { newApiToken } from "@trainyard/kernel/api-token";
import { readJson, readText, writeAtomically, writeJson } from "./atomic-file.ts";
import { ClusterError, errorCode } from "../cluster-error.ts";
import type { Home } from "./home.ts";

/** The cluster's secrets: random, drawn once, and stored only in `secrets.json` and other files of mode 0600. */
export type Secrets = {
  /** Names the cluster among those of one machine; not secret. */
  readonly clusterId: string;
  readonly postgresAdminPassword: string;
  readonly postgresPasswords: Readonly<Record<string, string>>;
  readonly natsPasswords: Readonly<Record<string, string>>;
  readonly runTokenKey: { readonly id: string; readonly secretHex: string };
};

/** Returns the cluster's secrets with a password for each given role and user; missing ones are drawn and saved. */
export function ensureSecrets(
  home: Home,
  needed: { readonly postgresRoles: readonly string[]; readonly natsUsers: readonly string[] },
  databaseFolder: string = home.postgres,
): Secrets {
  const kept = readJson(home.secretsFile) as Secrets | null;
  if (kept === null && hasFiles(databaseFolder)) {
    throw new ClusterError(
      "secrets_missing",
      `${home.secretsFile} is missing, and without it the database in ${databaseFolder} cannot be opened: restore the file, or delete its data with "yard cluster down --purge".`,
    );
  }
  const secrets: Secrets = {
    clusterId: kept?.clusterId ?? newClusterId(),
    postgresAdminPassword: kept?.postgresAdminPassword ?? password(),
    postgresPasswords: withPasswords(kept?.postgresPasswords ?? {}, needed.postgresRoles),
    natsPasswords: withPasswords(kept?.natsPasswords ?? {}, needed.natsUsers),
    runTokenKey: kept?.runTokenKey ?? {
      id: randomBytes(4).toString("hex"),
      secretHex: randomBytes(32).toString("hex"),
    },
  };
  if (JSON.stringify(secrets) !== JSON.stringify(kept)) {
    writeJson(home.secretsFile, secrets, { durable: true });
  }
  return secrets;
}

/** Gives the home of a copied cluster an id of its own, and returns it; null for a home without secrets. */
export function renewClusterId(home: Home): string | null {
  const secrets = readJson(home.secretsFile) as Secrets | null;
  if (secrets === null) return null;
  const clusterId = newClusterId();
  writeJson(home.secretsFile, { ...secrets, clusterId }, { durable: true });
  return clusterId;
}

function newClusterId(): string {
  return randomBytes(6).toString("hex");
}

/** The first API token; the gateway issues it under that id at its first start. */
export function ensureApiToken(home: Home): string {
  const kept = readText(home.tokenFile)?.trim();
  if (kept !== undefined && kept !== "") return kept;
  const { text: token } = newApiToken();
  writeAtomically(home.tokenFile, `${token}\n`, { durable: true });
  return token;
}

/** A random password, safe in a URL and in every configuration file that quotes its values. */
function password(): string {
  return randomBytes(24).toString("base64url");
}

function withPasswords(
  kept: Readonly<Record<string, string>>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  const missing = names.filter((name) => kept[name] === undefined);
  return { ...kept, ...Object.fromEntries(missing.map((name) => [name, password()])) };
}

function hasFiles(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
