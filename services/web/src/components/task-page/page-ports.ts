import type { Plain } from "@trainyard/contracts";
import type { Task } from "@trainyard/contracts/api";

/** A task that may serve pages. */
export type Serving = Pick<Plain<Task>, "id" | "ports" | "state" | "hasPage">;

/** Returns the HTTP ports whose pages can be opened: those of a running task. 0 is the page of a task that has one. */
export function pagePorts({ ports, state, hasPage }: Serving): number[] {
  if (state !== "RUNNING") return [];
  const declared = ports.filter(({ isTcp }) => !isTcp).map(({ port }) => port);
  return hasPage ? [0, ...declared] : declared;
}
