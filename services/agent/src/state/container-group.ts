/**
 * A run in a container. Its init is PID 1 of the container's namespace: the kernel ends all of the container with it,
 * so the run is over when its init is gone, and SIGKILL to the init ends the run even while the engine is down. If this
 * user may not signal the init (Docker runs it as root and the agent is not root), the engine is asked.
 *
 * SIGTERM goes to all processes except the init, which would pass it on a second time.
 */
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
      const targets = living.filter(
        ({ pid }) => isKill === (leader === undefined || pid === leader),
      );
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
