/**
 * Records of started processes, one file per running process: the supervisor after a killed one finds the processes by
 * these records. A process that was started but not yet recorded is found by a mark in its environment. The copy of a
 * home has its records and its cluster id, so records and marks also name a folder by device and inode: the copy does
 * not have it, and the home keeps it when it is renamed.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJson, writeJson } from "../home/atomic-file.ts";
import { folderIdentity } from "../home/folder-identity.ts";
import type { Home } from "../home/home.ts";
import {
  allProcesses,
  identityOf,
  isAlive,
  type ProcessIdentity,
  type ProcessView,
} from "./process-identity.ts";
import type { ProcessKind } from "./process-plan.ts";

export type ProcessRecord = {
  readonly name: string;
  readonly kind: ProcessKind;
  readonly identity: ProcessIdentity;
  readonly fingerprint: string;
  readonly log: string;
};

/** A record in its file; earlier versions named no folder. */
type StoredRecord = ProcessRecord & { readonly folder?: string | null };

/** Only the supervisor sets this variable, so a process that has it belongs to this cluster. */
const markVariable = "TRAINYARD_SUPERVISED";

export function markOf(
  home: Home,
  clusterId: string,
  name: string,
): Readonly<Record<string, string>> {
  return { [markVariable]: `${clusterId}/${name}/${folderIdentity(home.path)}` };
}

export class ProcessRecords {
  readonly #home: Home;
  readonly #folder: string;

  constructor(home: Home) {
    this.#home = home;
    this.#folder = join(home.run, "processes");
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  save(record: ProcessRecord): void {
    writeJson(this.#file(record.name), { ...record, folder: folderIdentity(this.#folder) });
  }

  remove(name: string): void {
    rmSync(this.#file(name), { force: true });
  }

  /** Returns the records of live processes, and removes those of dead ones and those that were copied with the home. */
  living(): readonly ProcessRecord[] {
    return readdirSync(this.#folder)
      .filter((file) => file.endsWith(".json"))
      .flatMap((file) => {
        const record = readJson(join(this.#folder, file)) as StoredRecord | null;
        if (record !== null && this.#isOwn(record) && isAlive(record.identity)) return [record];
        rmSync(join(this.#folder, file), { force: true });
        return [];
      });
  }

  /**
   * Finds, by its mark, a process that was started under this name with exactly these arguments. Its children inherit
   * the mark, but have other arguments.
   */
  findMarked(clusterId: string, name: string, argv: readonly string[]): ProcessIdentity | null {
    const found = marked(allProcesses(), clusterId, this.#home).find(
      (one) => one.name === name && one.argv.join("\0") === argv.join("\0"),
    );
    return found === undefined ? null : identityOf(found.pid);
  }

  #isOwn({ folder, log }: StoredRecord): boolean {
    return dirname(log) === this.#home.logs || folder === folderIdentity(this.#folder);
  }

  #file(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}

/** The processes with the mark of this home, with the names that they were started under. */
function marked(
  processes: readonly ProcessView[],
  clusterId: string,
  home: Home,
): readonly (ProcessView & { readonly name: string })[] {
  const prefix = `${markVariable}=${clusterId}/`;
  const own = folderIdentity(home.path);
  return processes.flatMap((one) => {
    const mark = one.environment.find((entry) => entry.startsWith(prefix));
    if (mark === undefined) return [];
    const [name = "", folder] = mark.slice(prefix.length).split("/");
    const isOwn = folder === undefined ? namesFileOf(home, one) : folder === own;
    return isOwn ? [{ ...one, name }] : [];
  });
}

/** Whether an argument or variable is a path in the home, which is all that earlier versions tell a process of it. */
function namesFileOf(home: Home, { argv, environment }: ProcessView): boolean {
  const inside = join(home.path, "/");
  return [...argv, ...environment].some((text) =>
    text.slice(text.indexOf("=") + 1).startsWith(inside),
  );
}

/** Every process that carries the home's mark, and every process in a run's folder of its agents. */
export function findMembers(clusterId: string, home: Home): Members {
  const agents = join(home.agents, "/");
  const processes = allProcesses().filter((one) => one.pid !== process.pid);
  const ofRun = `TRAINYARD_RUN_DIR=${agents}`;
  const ofRuns = processes.filter((one) =>
    one.environment.some((entry) => entry.startsWith(ofRun)),
  );
  const supervised = marked(processes, clusterId, home);
  const watching = supervised.filter((one) => one.argv.at(-1)?.startsWith(agents));
  const identified = (found: readonly ProcessView[]): readonly ProcessIdentity[] =>
    found.flatMap((one) => identityOf(one.pid) ?? []);
  return {
    ofRuns: identified(ofRuns),
    watching: identified(watching),
    supervised: identified(supervised),
  };
}

export type Members = {
  /** The training processes. */
  readonly ofRuns: readonly ProcessIdentity[];
  /** The supervised processes that each watch one run; their last argument is the run's folder. */
  readonly watching: readonly ProcessIdentity[];
  /** Processes that the supervisor started, and their children. */
  readonly supervised: readonly ProcessIdentity[];
};
