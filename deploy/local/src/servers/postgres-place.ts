/**
 * The folder of the database, and the user that its server runs as. PostgreSQL refuses to run as root. If root starts
 * the cluster, the server runs as another user, who must reach both the data and the programs; this is tested by
 * running the server. If the user cannot reach them (a checkout in a folder that only root may enter), both go to
 * /var/lib/trainyard/<cluster id>/ and stay there. Only then a file in the home names the folder, and a file beside the
 * database names the home.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { readJson, readText, writeAtomically, writeJson } from "../home/atomic-file.ts";
import { ClusterError, errorText } from "../cluster-error.ts";
import { type Home, homeAt } from "../home/home.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";

export type ServerUser = { readonly name: string; readonly uid: number; readonly gid: number };

export type PostgresPlace = {
  /** The folder with `data`; it belongs to the server's user. */
  readonly folder: string;
  readonly binaries: PostgresBinaries;
  /** Null if the server runs as the present user. */
  readonly user: ServerUser | null;
  /** A sentence for the status page when the data is not in the home folder. */
  readonly note: string | null;
};

/** The content of the file that names the folder outside of the home. */
type Outside = { readonly folder: string };

const sharedRoot = "/var/lib/trainyard";

/** The first of these users that exists on the machine is taken. None is created: an installation changes no users. */
const userNames = ["trainyard", "postgres", "nobody"];

/** Decides on the folder until a database is there; later starts find it. */
export function preparePlace(
  home: Home,
  clusterId: string,
  packaged: PostgresBinaries,
): PostgresPlace {
  const folder = databaseFolder(home);
  const isOutside = folder !== home.postgres;
  if (isOutside && !existsSync(folder)) {
    throw new ClusterError(
      "database_missing",
      `The database of this home, ${folder}, is missing: put its copy there (docs/operate/backup.md), or delete the other data with "yard cluster down --purge".`,
    );
  }
  if (process.getuid?.() !== 0) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { folder, binaries: packaged, user: null, note: null };
  }
  const user = serverUser(folder);
  if (isOutside) return relocate(home, folder, packaged, user);
  giveFolder(folder, user);
  if (canRun(packaged, user) && canWrite(folder, user)) {
    return { folder, binaries: packaged, user, note: null };
  }
  if (existsSync(join(folder, "data"))) {
    throw new ClusterError(
      "unreachable_database",
      `The user ${user.name}, as whom PostgreSQL runs, can no longer reach ${folder} or ${packaged.folder}: let others pass through the folders above again (chmod o+x).`,
    );
  }
  rmSync(folder, { recursive: true, force: true });
  return relocate(home, outsideOf(clusterId), packaged, user);
}

/** The folder of the home's database, whether it was created yet or not. */
export function databaseFolder(home: Home): string {
  const outside = readJson(home.placeFile) as Outside | null;
  return outside?.folder ?? home.postgres;
}

function outsideOf(clusterId: string): string {
  return join(sharedRoot, clusterId, "postgres");
}

/** Gives a copied home whose database is outside a folder of its own, in which the copied database is expected. */
export function renewPlace(home: Home, clusterId: string | null): void {
  if (clusterId === null || databaseFolder(home) === home.postgres) return;
  const outside: Outside = { folder: outsideOf(clusterId) };
  writeJson(home.placeFile, outside, { durable: true });
}

/** Throws if a database outside of the home belongs to another home, of which this one is a copy. */
export function requireOwnDatabase(home: Home, folder: string = databaseFolder(home)): void {
  const owner = otherOwner(home, folder);
  if (owner === null) return;
  throw new ClusterError(
    "foreign_database",
    `The database ${folder} belongs to the home ${owner}, so ${home.path} is a copy: start it with "yard cluster up --copy" (docs/operate/backup.md), or delete its folder if it is not needed.`,
  );
}

/** Returns the path of another home that exists and uses the database; null if there is none. */
function otherOwner(home: Home, folder: string): string | null {
  if (folder === home.postgres) return null;
  const owner = readText(ownerFile(folder))?.trim();
  if (owner === undefined || owner === realpathSync(home.path)) return null;
  return databaseFolder(homeAt(owner)) === folder ? owner : null;
}

/** The file beside a database outside of its home, with the path of the home. */
const ownerFile = (folder: string): string => join(dirname(folder), "home");

/** Removes data and programs outside of the home, unless they belong to another home. */
export function removeOutside(home: Home): void {
  const folder = databaseFolder(home);
  if (otherOwner(home, folder) !== null) return;
  // The path comes from a file, so only folders below our shared root are ever removed.
  if (dirname(dirname(folder)) === sharedRoot && basename(folder) === "postgres") {
    rmSync(dirname(folder), { recursive: true, force: true });
  }
}

function relocate(
  home: Home,
  folder: string,
  packaged: PostgresBinaries,
  user: ServerUser,
): PostgresPlace {
  const shared = dirname(folder);
  mkdirSync(shared, { recursive: true, mode: 0o755 });
  giveFolder(folder, user);
  requireOwnDatabase(home, folder);
  const outside: Outside = { folder };
  writeJson(home.placeFile, outside, { durable: true });
  writeAtomically(ownerFile(folder), `${realpathSync(home.path)}\n`, { durable: true });
  const binaries = copyBinaries(packaged, shared);
  for (const [what, reachable] of [
    [binaries.folder, canRun(binaries, user)],
    [folder, canWrite(folder, user)],
  ] as const) {
    if (!reachable) {
      throw new ClusterError(
        "unreachable_database",
        `The user ${user.name}, as whom PostgreSQL runs, cannot reach ${what}: check the permissions of ${sharedRoot} and the folders above.`,
      );
    }
  }
  return {
    folder,
    binaries,
    user,
    note: `PostgreSQL runs as the user ${user.name}, who cannot enter ${home.path} or the checkout, so its data and programs are in ${shared}.`,
  };
}

function copyBinaries(packaged: PostgresBinaries, shared: string): PostgresBinaries {
  const folder = join(shared, "programs");
  const stamp = join(folder, "VERSION");
  if (readText(stamp)?.trim() !== packaged.version) {
    const draft = join(shared, `programs.${process.pid}.new`);
    rmSync(draft, { recursive: true, force: true });
    cpSync(packaged.folder, draft, { recursive: true, verbatimSymlinks: true });
    openToAll(draft);
    writeAtomically(join(draft, "VERSION"), `${packaged.version}\n`, { mode: 0o644 });
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  }
  return { ...packaged, folder };
}

/** Makes the folder readable and enterable for all users: a checkout may have been unpacked under a strict umask. */
function openToAll(folder: string): void {
  const done = spawnSync("chmod", ["-R", "a+rX", folder]);
  if (done.status !== 0) {
    throw new ClusterError("chmod_failed", `The permissions of ${folder} could not be set.`, {
      cause: done.error,
    });
  }
}

function giveFolder(folder: string, user: ServerUser): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
}

/** The owner of the folder; for a new folder the first of `userNames`. */
function serverUser(folder: string): ServerUser {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid ?? 0;
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  const user =
    owner > 0
      ? users.find(({ uid }) => uid === owner)
      : userNames.flatMap((name) => users.filter((one) => one.name === name && one.uid > 0))[0];
  if (user !== undefined) return user;
  throw new ClusterError(
    "no_server_user",
    owner > 0
      ? `${folder} belongs to the user ${owner}, who is not in /etc/passwd: give it to a user of this machine (chown -R).`
      : `PostgreSQL does not run as root, and this machine has none of the users ${userNames.join(", ")}: create one ("useradd --system trainyard"), or start as another user.`,
  );
}

/** Runs the server as this user, which also proves that its libraries can be read. */
function canRun(binaries: PostgresBinaries, user: ServerUser): boolean {
  return succeeds(join(binaries.folder, "bin", "postgres"), ["--version"], user);
}

function canWrite(folder: string, user: ServerUser): boolean {
  return succeeds("/bin/sh", ["-c", 'test -w "$0" && test -x "$0"', folder], user);
}

function succeeds(program: string, parameters: readonly string[], user: ServerUser): boolean {
  const done = spawnSync(program, parameters, {
    uid: user.uid,
    gid: user.gid,
    cwd: "/",
    env: { LC_ALL: "C" },
    stdio: "ignore",
  });
  if (done.error !== undefined && (done.error as NodeJS.ErrnoException).code === "EPERM") {
    throw new ClusterError(
      "cannot_change_user",
      `PostgreSQL does not run as root, and starting it as the user ${user.name} is not permitted here (${errorText(done.error)}): start as another user than root.`,
      { cause: done.error },
    );
  }
  return done.status === 0;
}
