/**
 * The port to all processes of one run, even those that tried to leave its group, with three mechanisms. The mechanism
 * is recorded in the run's folder before the run starts (group.json), so that every process that adopts the run finds
 * the same processes.
 *
 *   cgroup   a cgroup2 of the run's own. The kernel knows who is in it, and kills all of it at once.
 *   parent   a small Python process starts the run and adopts whatever in it loses its parent (a subreaper), so that
 *            all of the run are its descendants, and it goes when none is left.
 *   container  a container of Docker's or Podman's: its init is PID 1 of a namespace, which ends with it
 *            (container-group.ts).
 *
 * The first two look at /proc too, for a process that was moved to another cgroup, or whose adoptive parent was killed:
 * the leader's session and group, processes with the run's folder in their environment, and the descendants of all
 * these. Zombies do not count: they hold no resources, and a parent that never waits for them may live forever.
 */
import { cgroupOf } from "./cgroup.ts";
import { type ContainerRecord, containerGroupOf } from "./container-group.ts";
import {
  carries,
  hasProc,
  isAlive,
  type LivingProcess,
  livingProcesses,
  type ProcessIdentity,
  sendSignal,
  wasReused,
  userOf,
} from "@trainyard/kernel/process-identity";
import { ownerOfFolder } from "./run-folders.ts";

/** The content of group.json: the mechanism that holds the run's processes together. */
export type GroupRecord =
  | ContainerRecord
  | { readonly mechanism: "cgroup"; readonly path: string }
  | { readonly mechanism: "parent"; readonly parent: ProcessIdentity };

export type Mechanism = GroupRecord["mechanism"];
/** The mechanisms of a run that is a process of this host. */
export type ProcessMechanism = Exclude<Mechanism, "container">;

export type RunGroup = {
  /** The living processes of the run, as far as they are known. */
  members(): readonly LivingProcess[];
  /**
   * True if no process of the run lives. A single check may miss processes that keep forking, so a caller that depends
   * on it repeats it.
   */
  isOver(): boolean;
  /**
   * Sends SIGKILL to all living processes, and SIGTERM to the leader; false if there were none. What the leader leaves
   * when it ends gets SIGTERM then, by the run's parent.
   */
  signal(name: NodeJS.Signals): boolean;
  /**
   * Called once the run is over: releases its cgroup or container. Returns a sentence about what could not be released;
   * empty for nothing.
   */
  remove(): Promise<string>;
};

export function runGroupOf(
  runDir: string,
  leader: () => ProcessIdentity | null,
  record: GroupRecord | null,
): RunGroup {
  if (record?.mechanism === "container") return containerGroupOf(runDir, leader, record);
  const found = new Found(runDir, leader, record?.mechanism === "parent" ? record.parent : null);
  const cgroup = record?.mechanism === "cgroup" ? cgroupOf(record.path) : null;
  return {
    members() {
      const members = new Map(found.members().map((one) => [one.pid, one]));
      for (const one of cgroup?.members() ?? []) members.set(one.pid, one);
      return [...members.values()];
    },
    isOver: () => found.isOver() && cgroup?.isPopulated() !== true,
    signal(name) {
      if (name !== "SIGKILL") return found.askLeader(name);
      const inCgroup = cgroup?.signal(name) ?? false;
      return found.kill() || inCgroup;
    },
    async remove() {
      cgroup?.remove();
      return "";
    },
  };
}

/** The processes of a run in /proc. Remembers those that it has seen, since their parents may end. */
class Found {
  readonly #runDir: string;
  readonly #leader: () => ProcessIdentity | null;
  /** A process that is not part of the run, but whose descendants are. */
  readonly #parent: ProcessIdentity | null;
  #seen: ReadonlyMap<number, string> = new Map();

  constructor(
    runDir: string,
    leader: () => ProcessIdentity | null,
    parent: ProcessIdentity | null,
  ) {
    this.#runDir = runDir;
    this.#leader = leader;
    this.#parent = parent;
  }

  isOver(): boolean {
    return this.members().length === 0 && !this.#isParentThere();
  }

  /** The parent ends when it has waited for all processes that it adopted. */
  #isParentThere(): boolean {
    return this.#parent !== null && isAlive(this.#parent);
  }

  members(): readonly LivingProcess[] {
    const leader = this.#leader();
    if (!hasProc) {
      if (leader === null || !isAlive(leader)) return [];
      const { pid } = leader;
      return [{ ...leader, parent: 0, group: pid, session: pid, name: "", state: "" }];
    }
    const processes = livingProcesses();
    const session = leader === null || wasReused(leader) ? null : leader.pid;
    const ours = new Map<number, LivingProcess>();
    for (const one of processes) {
      const isOurs =
        (session !== null && (one.session === session || one.group === session)) ||
        this.#seen.get(one.pid) === one.started ||
        (carries(one.pid, "TRAINYARD_RUN_DIR", this.#runDir) && this.#mayBeOurs(one.pid));
      if (isOurs) ours.set(one.pid, one);
    }
    const root = this.#isParentThere() ? (this.#parent?.pid ?? null) : null;
    addDescendants(processes, ours, root);
    this.#seen = new Map([...ours.values()].map(({ pid, started }) => [pid, started]));
    return [...ours.values()];
  }

  /** Any user can put this run's folder into a process's environment, which would keep the run from ending. */
  #mayBeOurs(pid: number): boolean {
    const owner = ownerOfFolder(this.#runDir);
    return owner === null || userOf(pid) === owner.uid;
  }

  askLeader(name: NodeJS.Signals): boolean {
    const leader = this.#leader();
    return leader !== null && isAlive(leader) && sendSignal(leader.pid, name);
  }

  kill(): boolean {
    // The members are listed before the first one dies, since its children then get another parent.
    const members = this.members();
    // A fork bomb makes processes faster than they are killed one by one.
    for (const { pid } of members) sendSignal(pid, "SIGSTOP");
    const leader = this.#leader();
    if (leader !== null && isAlive(leader)) sendSignal(-leader.pid, "SIGKILL");
    for (const { pid } of members) sendSignal(pid, "SIGKILL");
    return members.length > 0 || this.#isParentThere();
  }
}

/** Adds the descendants of the processes in the set, or of the root. */
function addDescendants(
  processes: readonly LivingProcess[],
  ours: Map<number, LivingProcess>,
  root: number | null,
): void {
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const open = [...ours.keys(), ...(root === null ? [] : [root])];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (ours.has(child.pid)) continue;
      ours.set(child.pid, child);
      open.push(child.pid);
    }
  }
}
