/** The limits of a run's memory and processes, which its cgroup or its container has. */

/** For each slot of a run; null for no limit. */
export type SlotLimits = {
  readonly memoryBytes: number | null;
  /** The number of processes and threads. */
  readonly pids: number | null;
};

/** By the names of the cgroup controllers; absent for no limit. */
export type RunLimits = { readonly memory?: number; readonly pids?: number };

/** A run without slots has the limits of one slot. */
export function limitsOf({ memoryBytes, pids }: SlotLimits, slots: number): RunLimits {
  const times = Math.max(1, slots);
  return {
    ...(memoryBytes === null ? {} : { memory: memoryBytes * times }),
    ...(pids === null ? {} : { pids: pids * times }),
  };
}
