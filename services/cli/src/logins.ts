/**
 * The file of `yard login`: the clusters of a person, of which one is current. The Python client reads and writes the
 * same file (`trainyard/client/_logins.py`): clusters.json in $XDG_CONFIG_HOME/trainyard, mode 0600.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { configFolder } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

/** The address of a cluster, and the token for its API. */
export type Access = { readonly url: string; readonly token: string };

/** `user` is the name of the person whose sign-in made the token; logout revokes such a token. */
export type Login = Access & { readonly user?: string };

export type Logins = {
  /** The name of the current cluster; empty for none. */
  readonly current: string;
  readonly clusters: Readonly<Record<string, Login>>;
};

export function loginsFile(): string {
  return join(configFolder(), "trainyard", "clusters.json");
}

/** Returns the content of the file. Throws a UsageError if it is damaged, or if others can read its tokens. */
export function readLogins(): Logins {
  const path = loginsFile();
  let text: string;
  try {
    text = readFileSync(path, "utf8");
    if ((statSync(path).mode & 0o077) !== 0) {
      throw new UsageError(`${path} can be read by others: run chmod 600 ${path}.`);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { current: "", clusters: {} };
    throw error;
  }
  const logins = parsed(text);
  if (logins === null) {
    throw new UsageError(`${path} is damaged: remove it and log in again.`);
  }
  return logins;
}

function parsed(text: string): Logins | null {
  try {
    const { current, clusters } = JSON.parse(text) as Partial<Logins>;
    const known = Object.entries(clusters ?? {});
    const whole = known.every(
      ([, one]) => typeof one.url === "string" && typeof one.token === "string",
    );
    return whole ? { current: current ?? "", clusters: Object.fromEntries(known) } : null;
  } catch {
    return null;
  }
}

/** Replaces the file atomically, with mode 0600. */
export function writeLogins(logins: Logins): void {
  const path = loginsFile();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}.new`;
  try {
    writeFileSync(draft, `${JSON.stringify(logins, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Returns the login with this name. */
export function loginNamed(name: string): Access {
  const { clusters } = readLogins();
  const access = Object.hasOwn(clusters, name) ? clusters[name] : undefined;
  if (access !== undefined) return access;
  throw new UsageError(`There is no login with the name ${JSON.stringify(name)}: see yard login.`);
}

/** Returns the current login; null if there is none. */
export function currentLogin(): Access | null {
  const { current, clusters } = readLogins();
  return Object.hasOwn(clusters, current) ? (clusters[current] ?? null) : null;
}

/** Returns the login with this address; null if there is none. */
export function loginAt(url: string): Access | null {
  return Object.values(readLogins().clusters).find((one) => sameAddress(one.url, url)) ?? null;
}

export function sameAddress(one: string, other: string): boolean {
  return one.replace(/\/+$/, "") === other.replace(/\/+$/, "");
}
