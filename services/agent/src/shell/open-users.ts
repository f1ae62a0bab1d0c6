/**
 * Checks at the agent's start whether its runs can have users of their own, and opens the paths that they need. A
 * configured range that does not work ends the agent, since its runs would otherwise have the rights of root.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { markStorage } from "@trainyard/blob";
import { Fault } from "@trainyard/kernel";
import { makeFolder, names } from "../state/layout.ts";
import { parentProgram, pythonIn } from "../supervisor/python.ts";
import type { Telemetry } from "../telemetry.ts";
import { letPass } from "../state/run-folders.ts";
import { rangesProblem, type RunUser, type UserRange } from "../state/run-user.ts";
import { RunUsers } from "../users/run-users.ts";
import { storageMode } from "../users/tensorboard-folders.ts";

export type UserSettings = {
  /** The range of user ids; null if runs have the agent's own user. */
  readonly range: UserRange | null;
  /** The range for tasks; null if they cannot run with users of their own. */
  readonly taskRange: UserRange | null;
  /** Names or numbers of groups. */
  readonly groups: readonly string[];
  /** Further variables of the agent that runs inherit; a name that ends in * is a prefix. */
  readonly inherits: readonly string[];
  /** The file with the agent's settings; null if they are all in its environment. */
  readonly settingsFile: string | null;
};

export type Places = {
  /** The agent's state folder. */
  readonly folder: string;
  readonly sdkPath: string | null;
  /** The registry's default checkpoint folder; empty if this host does not know it. */
  readonly checkpointDir: string;
};

/** Throws a Fault with the reason if runs cannot have users of their own on this host. */
export async function openUsers(
  settings: UserSettings,
  places: Places,
  events: Pick<Telemetry, "runUsers" | "storageClosed">,
): Promise<RunUsers> {
  const { range, taskRange, inherits, settingsFile } = settings;
  const problem = rangesProblem(range, taskRange);
  if (problem !== null) throw new Fault("no_run_users", problem, { retry: "never" });
  events.runUsers(range, taskRange);
  if (range === null) return new RunUsers(null);
  const own = process.getuid?.();
  if (process.platform !== "linux" || own !== 0) {
    throw refused(`the agent runs as user ${own}: start it as root on Linux`);
  }
  checkAccounts(range);
  if (taskRange !== null) checkAccounts(taskRange);
  checkPath(realpathSync(places.folder));
  if (settingsFile !== null) checkClosed(settingsFile);
  const groups = settings.groups.map(groupId);
  for (const folder of [places.folder, makeFolder(join(places.folder, names.runs))])
    letPass(folder);
  await makeStorage(places.checkpointDir);
  const probe: RunUser = { uid: range.first, gid: range.first, groups };
  const problems = await unreachable(probe, places);
  if (problems.includes("storage")) events.storageClosed(places.checkpointDir);
  if (problems.includes("folder")) {
    throw refused(
      `user ${probe.uid} cannot reach ${places.folder}: let others pass through each folder that leads there (chmod o+x), or set TRAINYARD_AGENT_DIR to another place`,
    );
  }
  if (problems.includes("sdk")) {
    throw refused(
      `user ${probe.uid} cannot read the package trainyard in ${places.sdkPath}: let others read it, or set TRAINYARD_SDK_PATH to another place`,
    );
  }
  return new RunUsers(range, groups, inherits, taskRange);
}

function refused(why: string): Fault {
  return new Fault(
    "no_run_users",
    `TRAINYARD_AGENT_USER_IDS is set, but runs cannot have users of their own: ${why}; without this setting runs have the agent's user`,
    { retry: "never" },
  );
}

/**
 * In lines of passwd(5) and group(5) the id is the third field. Throws if an account of this host has an id in the
 * range.
 */
export function checkAccounts(
  { first, last }: UserRange,
  files: readonly string[] = ["/etc/passwd", "/etc/group"],
): void {
  for (const file of files) {
    for (const [name = "", , id = ""] of linesOf(file)) {
      if (id === "" || Number(id) < first || Number(id) > last) continue;
      throw refused(`${name} in ${file} has the id ${id}, which is in the range: choose another`);
    }
  }
}

/** A folder that other users can replace is not safe, even if its files are. */
function checkPath(folder: string): void {
  for (let path = folder; ; path = dirname(path)) {
    const { uid, mode } = statSync(path);
    const isSticky = (mode & 0o1000) !== 0;
    if (uid !== 0 || ((mode & 0o022) !== 0 && !isSticky)) {
      throw refused(
        `others may exchange ${path}, which holds the agent's state: make it root's, and let nobody else write there (chown root, chmod go-w)`,
      );
    }
    if (path === dirname(path)) return;
  }
}

/** Groups whose members get root's rights, or can read its files. */
const likeRoot = new Set([
  "docker",
  "podman",
  "lxd",
  "libvirt",
  "disk",
  "shadow",
  "kmem",
  "sudo",
  "wheel",
  "adm",
]);

function groupId(group: string): number {
  if (likeRoot.has(group)) {
    throw refused(`TRAINYARD_AGENT_USER_GROUPS names ${group}, whose members have rights of root`);
  }
  const id = linesOf("/etc/group").find(([name]) => name === group)?.[2] ?? group;
  if (/^\d+$/.test(id) && Number(id) > 0) return Number(id);
  throw refused(
    `TRAINYARD_AGENT_USER_GROUPS names ${JSON.stringify(group)}, and /etc/group has no such group that runs may have`,
  );
}

function linesOf(file: string): readonly (readonly string[])[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.split(":"));
}

function checkClosed(file: string): void {
  const { uid, mode } = statSync(file);
  if (uid === 0 && (mode & 0o077) === 0) return;
  throw refused(
    `${file} holds the agent's password, and others may read it: chown root and chmod 600`,
  );
}

/**
 * Makes the folder only if it does not exist: then only the agent has been in it. The marker is the agent's, too: the
 * owner of the marker could replace it, and nothing in the storage would be verified any more.
 */
async function makeStorage(path: string): Promise<void> {
  if (path === "" || existsSync(path)) return;
  mkdirSync(join(path, "tensorboard"), { recursive: true, mode: 0o700 });
  await markStorage(path);
  for (const folder of ["tensorboard", "."]) chmodSync(join(path, folder), storageMode);
}

const script = `cd "$1/${names.runs}" 2>/dev/null || echo folder
[ -z "$2" ] || [ -r "$2/trainyard/__init__.py" ] || echo sdk
[ -z "$3" ] || { [ -w "$3" ] && [ -x "$3" ]; } || echo storage`;

/** Returns the paths that a process of the user cannot reach; the process is started as runs are. */
async function unreachable(
  user: RunUser,
  { folder, sdkPath, checkpointDir }: Places,
): Promise<readonly string[]> {
  const argv = ["/bin/sh", "-c", script, "sh", folder, sdkPath ?? "", checkpointDir];
  const [python, ...parameters] = pythonIn(parentProgram);
  const child = spawn(python, parameters, { stdio: ["ignore", "pipe", "ignore", "pipe"] });
  const over = once(child, "exit") as Promise<[code: number | null, signal: string | null]>;
  const control = child.stdio[3] as Duplex;
  control.write(`${JSON.stringify({ argv, environment: {}, work: "/", user })}\n`);
  const ends = [text(child.stdout as Readable), text(control), over] as const;
  const [said, problem, [code, signal]] = await Promise.all(ends).catch((error: unknown) => {
    throw refused(`no process of user ${user.uid} can be started: ${String(error)}`);
  });
  if (problem === "" && (said !== "" || code === 0)) return said.split("\n").filter(Boolean);
  throw refused(`a process of user ${user.uid} ended with ${problem.trim() || (signal ?? code)}`);
}
