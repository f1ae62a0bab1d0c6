/**
 * Checks an embedded cluster: which data training code can reach here, and whether other users can read its secrets.
 */
import { readdirSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { errorCode } from "./cluster-error.ts";
import { type Home, homeAt, homeFolder } from "./home/home.ts";

export type Finding = {
  readonly check: string;
  /** problem: something is wrong and can be repaired. note: nothing is wrong, but a person should know it. */
  readonly state: "ok" | "note" | "problem";
  readonly detail: string;
};

export function clusterDoctor(home: Home = homeAt(homeFolder())): readonly Finding[] {
  return [usersOff(), ...secretFiles(home)];
}

function usersOff(): Finding {
  const { username, uid } = userInfo();
  return {
    check: "users of runs",
    state: "note",
    detail: `off in the embedded cluster: training code runs as ${username} (${uid}), like the services, and can read all that this user can, the cluster's passwords and the tokens of other runs included. Let only people submit whom you would let log in as ${username}. Agents that run as root can give each experiment a user of its own: docs/operate/run-users.md`,
  };
}

/** The secret files of a home; only their owner may read them. */
function secretFiles(home: Home): readonly Finding[] {
  const environments = join(home.run, "environment");
  const files = [home.secretsFile, home.tokenFile, ...filesIn(environments)];
  const open = files.filter(isOpen);
  if (open.length === 0) {
    return [
      { check: "secrets", state: "ok", detail: "no other user of this machine can read them" },
    ];
  }
  return open.map((path) => ({
    check: "secrets",
    state: "problem",
    detail: `other users of this machine may read ${path}: chmod 600 ${path}`,
  }));
}

function isOpen(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.mode & 0o077) !== 0;
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
