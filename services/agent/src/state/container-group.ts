/**
 * A run in a container. Its init is PID 1 of the container's namespace: the kernel ends all of the container with it,
 * so the run is over when its init is gone, and SIGKILL to the init ends the run even while the engine is down. If this
 * user may not signal the init (Docker runs it as root and the agent is not root), the engine is asked.
 *
 * SIGTERM goes to what the init has started, and not to the init, which would pass it on a second time. A shell would
 * end at once, and the container with it: what the shell has started gets the signal, and the shell only if it handles
 * the signal.
 */
import { readFileSync, readlinkSync } from "node:fs";
import {
  carries,
  isAlive,
  type LivingProcess,
  livingProcesses,
  type ProcessIdentity,
  sendSignal,
} from "@trainyard/kernel/process-identity";
import { limits } from "../limits.ts";
import type { RunGroup } from "./run-group.ts";

/** The group.json of a container, written before the container is made. */
export type ContainerRecord = {
  readonly mechanism: "container";
  readonly socket: string;
  readonly name: string;
};

export function containerGroupOf(
  runDir: string,
  init: () => ProcessIdentity | null,
  { socket, name }: ContainerRecord,
): RunGroup {
  const members = (): readonly LivingProcess[] => {
    const leader = init();
    const processes = livingProcesses();
    // Before its init is recorded, only root can find the container's processes, by the run's folder in their
    // environment.
    if (leader === null)
      return processes.filter(({ pid }) => carries(pid, "TRAINYARD_RUN_DIR", runDir));
    return isAlive(leader) ? withDescendants(processes, leader.pid) : [];
  };
  return {
    members,
    isOver: () => members().length === 0,
    signal(signal) {
      const living = members();
      const leader = init()?.pid;
      const isKill = signal === "SIGKILL";
      const isTarget = ({ pid }: LivingProcess): boolean => leader === undefined || pid === leader;
      const targets = isKill ? living.filter(isTarget) : askable(living, leader);
      const sent = targets.filter(({ pid }) => sendSignal(pid, signal));
      if (sent.length < targets.length) void askEngine(socket, name, signal);
      return living.length > 0;
    },
    remove: () => removeContainer(socket, name),
  };
}

function withDescendants(processes: readonly LivingProcess[], root: number): LivingProcess[] {
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const found = processes.filter(({ pid }) => pid === root);
  for (const { pid } of found) found.push(...(children.get(pid) ?? []));
  return found;
}

const shells = new Set(["sh", "ash", "bash", "dash", "ksh", "zsh"]);
/** The bit of SIGTERM in a mask of signals. */
const termBit = 1n << 14n;

/** A process that reads another's output, such as tee, ends by itself, when the other has ended. */
function askable(
  living: readonly LivingProcess[],
  init: number | undefined,
): readonly LivingProcess[] {
  const children = Map.groupBy(living, ({ parent }) => parent);
  const outputs = new Set(living.flatMap(({ pid }) => [pipeOf(pid, 1), pipeOf(pid, 2)]));
  const found: LivingProcess[] = [];
  const open = init === undefined ? [] : [init];
  for (const parent of open) {
    for (const child of children.get(parent) ?? []) {
      const input = pipeOf(child.pid, 0);
      const isShell = shells.has(child.name);
      if (isShell) open.push(child.pid);
      if (isShell ? !handlesTerm(child.pid) : input !== "" && outputs.has(input)) continue;
      found.push(child);
    }
  }
  return found;
}

function handlesTerm(pid: number): boolean {
  const caught = /^SigCgt:\t(\w+)$/m.exec(
    readOr(() => readFileSync(`/proc/${pid}/status`, "utf8")),
  );
  return (BigInt(`0x${caught?.[1] ?? "0"}`) & termBit) !== 0n;
}

/** Empty for a descriptor that is no pipe. */
function pipeOf(pid: number, descriptor: number): string {
  const target = readOr(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`));
  return target.startsWith("pipe:") ? target : "";
}

/** Empty for a process that has ended, or that this user may not read. */
function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** Signals are repeated, so a failed request is ignored. */
async function askEngine(socket: string, name: string, signal: string): Promise<void> {
  const { bounded, engineAt } = await import("../runtime/engine.ts");
  await engineAt(socket)
    .getContainer(name)
    .kill({ signal, abortSignal: bounded() })
    .catch(() => {});
}

/**
 * Kills and removes the container. Returns a sentence if the engine fails to do so: the agent's next check of all
 * containers then removes it.
 */
async function removeContainer(socket: string, name: string): Promise<string> {
  const { bounded, engineAt, isGone, problemOf } = await import("../runtime/engine.ts");
  try {
    const abortSignal = bounded(limits.removeContainerMs);
    await engineAt(socket).getContainer(name).remove({ force: true, v: true, abortSignal });
    return "";
  } catch (error) {
    if (isGone(error)) return "";
    return `its container ${name} was not removed yet: ${problemOf(error, socket)}`;
  }
}
