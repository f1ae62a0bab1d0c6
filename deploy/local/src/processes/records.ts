/**
 * Records of started processes, one file per running process: the supervisor after a killed one finds the processes by
 * these records. A process that was started but not yet recorded is found by a mark in its environment.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson } from "../home/atomic-file.ts";
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

/** Only the supervisor sets this variable, so a process that has it belongs to this cluster. */
const markVariable = "TRAINYARD_SUPERVISED";

export function markOf(clusterId: string, name: string): Readonly<Record<string, string>> {
  return { [markVariable]: `${clusterId}/${name}` };
}

export class ProcessRecords {
  readonly #folder: string;

  constructor(home: Home) {
    this.#folder = join(home.run, "processes");
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  save(record: ProcessRecord): void {
    writeJson(this.#file(record.name), record);
  }

  remove(name: string): void {
    rmSync(this.#file(name), { force: true });
  }

  /** Returns the records of live processes, and removes those of dead ones. */
  living(): readonly ProcessRecord[] {
    return readdirSync(this.#folder)
      .filter((file) => file.endsWith(".json"))
      .flatMap((file) => {
        const record = readJson(join(this.#folder, file)) as ProcessRecord | null;
        if (record !== null && isAlive(record.identity)) return [record];
        rmSync(join(this.#folder, file), { force: true });
        return [];
      });
  }

  #file(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}

/**
 * Finds, by its mark, a process that was started under this name with exactly these arguments. Its children inherit the
 * mark, but have other arguments.
 */
export function findMarked(
  clusterId: string,
  name: string,
  argv: readonly string[],
): ProcessIdentity | null {
  const mark = `${markVariable}=${clusterId}/${name}`;
  const found = allProcesses().find(
    (one) => one.environment.includes(mark) && one.argv.join("\0") === argv.join("\0"),
  );
  return found === undefined ? null : identityOf(found.pid);
}

/** Every process that carries the cluster's mark, and every process in a run's folder of its agents. */
export function findMembers(clusterId: string, home: Home): Members {
  const mark = `${markVariable}=${clusterId}/`;
  const agents = join(home.agents, "/");
  const processes = allProcesses().filter((one) => one.pid !== process.pid);
  const carrying = (prefix: string): readonly ProcessView[] =>
    processes.filter((one) => one.environment.some((entry) => entry.startsWith(prefix)));
  const supervised = carrying(mark);
  const watching = supervised.filter((one) => one.argv.at(-1)?.startsWith(agents));
  const identified = (found: readonly ProcessView[]): readonly ProcessIdentity[] =>
    found.flatMap((one) => identityOf(one.pid) ?? []);
  return {
    ofRuns: identified(carrying(`TRAINYARD_RUN_DIR=${agents}`)),
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
