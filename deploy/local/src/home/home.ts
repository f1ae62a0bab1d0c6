import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { readText, writeAtomically } from "./atomic-file.ts";
import { ClusterError, errorCode } from "../cluster-error.ts";

/** The folder of this checkout. */
export const checkout = resolve(import.meta.dirname, "../../../..");

/** The embedded cluster starts the services of a checkout; an installed package has no services beside it. */
export function requireCheckout(): void {
  if (existsSync(join(checkout, "pnpm-workspace.yaml"))) return;
  throw new ClusterError(
    "no_checkout",
    "The embedded cluster runs from a checkout of Trainyard: clone it and run npm start there. To use a cluster that runs, set TRAINYARD_URL and TRAINYARD_TOKEN.",
  );
}

/** The paths of one embedded cluster. */
export type Home = {
  readonly path: string;
  /** Database files, unless `postgres.json` names another folder. */
  readonly postgres: string;
  readonly nats: string;
  readonly checkpoints: string;
  readonly blobs: string;
  readonly agents: string;
  readonly logs: string;
  /** The files of running processes: the lock, the control socket, their environments. */
  readonly run: string;
  /** The NATS users of subscriptions, which the service feeds writes. */
  readonly feedUsersFile: string;
  readonly secretsFile: string;
  readonly portsFile: string;
  readonly tokenFile: string;
  readonly clusterFile: string;
  readonly versionFile: string;
  /** Holds the path at which the home's cluster was last started. */
  readonly pathFile: string;
  /** Names the folder of a database outside of the home. */
  readonly placeFile: string;
};

/** TRAINYARD_HOME, by default `.trainyard` in the checkout. */
export function homeFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const named = environment["TRAINYARD_HOME"];
  if (named === undefined || named === "") return join(checkout, ".trainyard");
  return resolve(environment["TRAINYARD_CALLER_DIR"] ?? process.cwd(), named);
}

export function homeAt(folder: string): Home {
  const path = resolve(folder);
  return {
    path,
    postgres: join(path, "postgres"),
    nats: join(path, "nats"),
    checkpoints: join(path, "checkpoints"),
    blobs: join(path, "blobs"),
    agents: join(path, "agents"),
    logs: join(path, "logs"),
    run: join(path, "run"),
    feedUsersFile: join(path, "feed-users.json"),
    secretsFile: join(path, "secrets.json"),
    portsFile: join(path, "ports.json"),
    tokenFile: join(path, "token"),
    clusterFile: join(path, "cluster.json"),
    versionFile: join(path, "VERSION"),
    pathFile: join(path, "PATH"),
    placeFile: join(path, "postgres.json"),
  };
}

/** The log file of the process with this name. */
export function logOf(home: Home, name: string): string {
  return join(home.logs, `${name}.log`);
}

/**
 * Changes the folders of one layout version into those of the next; after a crash the step is run again from its start.
 */
export type LayoutStep = (home: Home) => void;

/** Step n migrates layout version n to n + 1. */
const layoutSteps: readonly LayoutStep[] = [];

/** Creates missing folders and migrates an older layout; throws on a newer one. */
export function prepareHome(home: Home, steps: readonly LayoutStep[] = layoutSteps): void {
  mkdirSync(home.path, { recursive: true });
  // If root starts the cluster, PostgreSQL runs as another user, who must be able to enter (not list) this folder.
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  if ((statSync(home.path).mode & 0o777) !== mode) chmodSync(home.path, mode);
  for (const folder of [
    home.nats,
    home.checkpoints,
    home.blobs,
    home.agents,
    home.logs,
    home.run,
  ]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  migrateLayout(home, steps);
}

function migrateLayout(home: Home, steps: readonly LayoutStep[]): void {
  const current = steps.length + 1;
  const text = readText(home.versionFile);
  const found = text === null ? current : Number(text.trim());
  if (!Number.isInteger(found) || found < 1) {
    throw new ClusterError(
      "broken_version",
      `${home.versionFile} does not hold a version number: restore it, or move ${home.path} aside to start with an empty cluster.`,
    );
  }
  if (found > current) {
    throw new ClusterError(
      "newer_home",
      `${home.path} was written by a newer Trainyard (layout ${found}, this one knows ${current}): update this checkout, or set TRAINYARD_HOME to another folder.`,
    );
  }
  if (text === null) writeVersion(home, current);
  for (let version = found; version < current; version += 1) {
    steps[version - 1]?.(home);
    writeVersion(home, version + 1);
  }
}

function writeVersion(home: Home, version: number): void {
  writeAtomically(home.versionFile, `${version}\n`, { mode: 0o644, durable: true });
}

/** Removes the cluster's files from the home, and the folder itself if it is empty afterwards. */
export function removeHome(home: Home): void {
  const { path, ...parts } = home;
  for (const part of Object.values(parts)) rmSync(part, { recursive: true, force: true });
  try {
    if (readdirSync(path).length === 0) rmdirSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}
