/**
 * The watch over the host: an engine that is away, devices that disappear or that others use, and memory that killed
 * runs have left. Runs read about their own devices in their logs, and the operator reads all of it in the agent's
 * notices.
 */
import { readlinkSync } from "node:fs";
import { type Clock, pause } from "@trainyard/kernel";
import { livingProcess } from "@trainyard/kernel/process-identity";
import {
  type DeviceProcess,
  type ForeignUse,
  foreignUse,
  isForeign,
  type RunOnDevices,
} from "../core/device-use.ts";
import type { SeenProcess } from "../devices/devices.ts";
import type { SlotOffer } from "../devices/slot-offer.ts";
import { limits } from "../limits.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { unusedBytes } from "../state/shared-memory.ts";
import type { Telemetry } from "../telemetry.ts";
import type { RunUsers } from "../users/run-users.ts";
import type { Run } from "./run.ts";

export type HostWatchDeps = {
  readonly offer: SlotOffer;
  readonly clock: Clock;
  readonly events: Telemetry;
  readonly runtime: Runtime;
  readonly users: RunUsers;
  readonly deviceLookMs: number;
};

const none: ForeignUse = { toRuns: new Map(), busy: new Map(), notices: [] };

export class HostWatch {
  readonly #deps: HostWatchDeps;
  readonly #runs: () => Iterable<Run>;
  readonly #onChange: () => void;
  #use = none;
  /** The foreign processes of the last look: one that is not seen twice may belong to a run that has just ended. */
  #seen: ReadonlySet<string> = new Set();
  #leftBytes = 0;

  constructor(deps: HostWatchDeps, runs: () => Iterable<Run>, onChange: () => void) {
    this.#deps = deps;
    this.#runs = runs;
    this.#onChange = onChange;
  }

  /** Sentences that stay the same while their causes do. */
  get notices(): readonly string[] {
    const left =
      this.#leftBytes === 0
        ? []
        : [
            `files in /dev/shm that no process uses take at least ${this.#leftBytes / 1024 ** 2} MiB: killed runs may have left them`,
          ];
    const { offer, runtime } = this.#deps;
    const engine = runtime.engine?.notice ?? null;
    const away = engine === null ? [] : [engine];
    return [...away, ...offer.withdrawn, ...this.#use.notices, ...left];
  }

  async loop(signal: AbortSignal): Promise<void> {
    const { clock, offer, deviceLookMs, runtime } = this.#deps;
    while (!signal.aborted) {
      this.#tellRuns();
      if (!offer.mayChange && !runtime.sharesMemory) return;
      await pause(clock, deviceLookMs, signal);
      if (signal.aborted) return;
      if (runtime.sharesMemory) this.#lookAtMemory();
      if (await offer.look(signal, (processes) => this.#judge(processes))) this.#onChange();
    }
  }

  #tellRuns(): void {
    for (const run of this.#runs()) {
      try {
        run.tell(this.#use.toRuns.get(run.folder.key) ?? []);
      } catch (error) {
        // The next look tries again.
        this.#deps.events.runFailed(run.allocation, error);
      }
    }
  }

  /** Returns why devices cannot be offered, by their ids. */
  #judge(seen: readonly SeenProcess[]): ReadonlyMap<string, string> {
    const processes = hasHostPids ? seen.flatMap(living) : [];
    const runs = processes.length === 0 ? [] : runsOn(this.#runs());
    const foreign = processes.filter((one) => isForeign(one, runs));
    const again = foreign.filter((one) => this.#seen.has(keyOf(one)));
    this.#seen = new Set(foreign.map(keyOf));
    this.#use = foreignUse(again, runs);
    return this.#use.busy;
  }

  /** The size is a power of two, so that it seldom changes. */
  #lookAtMemory(): void {
    const { clock, users } = this.#deps;
    const bytes = unusedBytes("/dev/shm", (uid) => users.has(uid), clock.nowMs());
    const isLittle = bytes < limits.sharedMemoryFloorBytes;
    this.#leftBytes = isLittle ? 0 : 2 ** Math.floor(Math.log2(bytes));
  }
}

/** In another PID namespace than the host's first, the numbers of nvidia-smi are other processes. */
const hasHostPids = linkOf("/proc/self/ns/pid") === "pid:[4026531836]";

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function keyOf({ device, pid }: DeviceProcess): string {
  return `${device} ${pid}`;
}

/** The server of NVIDIA's Multi-Process Service is there for the processes of all runs. */
function living({ uuid, pid }: SeenProcess): readonly DeviceProcess[] {
  const found = livingProcess(pid);
  if (found === null || found.name.startsWith("nvidia-cuda-mps")) return [];
  return [{ device: uuid, pid, name: found.name }];
}

function runsOn(runs: Iterable<Run>): readonly RunOnDevices[] {
  return [...runs]
    .filter((run) => run.folder.exit === null)
    .map((run) => {
      const { allocation, slots } = run.folder.launch;
      return { key: run.folder.key, allocation, slots, pids: run.pids };
    });
}
