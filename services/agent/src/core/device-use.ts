/** Processes that use devices which are not theirs: of a run with other slots, or of no run. */

export type DeviceProcess = {
  /** The id of the device, which is that of its slot. */
  readonly device: string;
  readonly pid: number;
  readonly name: string;
};

export type RunOnDevices = {
  readonly key: string;
  readonly allocation: string;
  readonly slots: readonly string[];
  readonly pids: ReadonlySet<number>;
};

export type ForeignUse = {
  /** Sentences for the logs of runs, by their keys. */
  readonly toRuns: ReadonlyMap<string, readonly string[]>;
  /** Why a device that no run has cannot be offered, by its id. */
  readonly busy: ReadonlyMap<string, string>;
  /** Sentences about devices that runs have. */
  readonly notices: readonly string[];
};

export function isForeign({ device, pid }: DeviceProcess, runs: readonly RunOnDevices[]): boolean {
  return !runs.some(({ slots, pids }) => slots.includes(device) && pids.has(pid));
}

export function foreignUse(
  processes: readonly DeviceProcess[],
  runs: readonly RunOnDevices[],
): ForeignUse {
  const toRuns = new Map<string, string[]>();
  const tell = ({ key }: RunOnDevices, text: string): void => {
    toRuns.set(key, [...(toRuns.get(key) ?? []), text]);
  };
  const busy = new Map<string, string>();
  const notices: string[] = [];
  for (const { device, pid, name } of processes) {
    const user = runs.find(({ pids }) => pids.has(pid));
    const holder = runs.find(({ slots }) => slots.includes(device));
    const who = `process ${pid} (${name}) of ${user === undefined ? "no run" : `run ${user.allocation}`}`;
    if (user !== undefined) {
      tell(user, `process ${pid} (${name}) of this run uses ${device}, which no slot of it has`);
    }
    if (holder === undefined) {
      if (!busy.has(device)) busy.set(device, `${who} uses it`);
    } else {
      tell(holder, `${who} uses ${device} of this run`);
      notices.push(`${who} uses ${device}, which run ${holder.allocation} has`);
    }
  }
  return { toRuns, busy, notices };
}
