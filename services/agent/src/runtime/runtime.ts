/**
 * The port to the runtimes: processes of this host, or containers of an engine. A runtime says how a run is started.
 * The supervisor starts it (supervisor/supervise.py, supervisor/main.ts), and the run's group signals, observes and
 * adopts it from the records in its folder (state/run-group.ts). So a run that one runtime has started can be ended and
 * adopted by an agent with another runtime.
 */
import type { Plain } from "@trainyard/contracts";
import type { Slot } from "@trainyard/contracts/events";
import type { StoragePlaces } from "../core/environment.ts";
import type { RunFolder } from "../state/run-folder.ts";
import type { Mechanism } from "../state/run-group.ts";
import type { EngineWatch } from "./engine-watch.ts";
import type { StartOrder } from "./start-order.ts";

export type Launching = {
  readonly folder: RunFolder;
  /** The folder with the model code. */
  readonly work: string;
  readonly slots: readonly Plain<Slot>[];
  /** The number of slots that the host offers. */
  readonly hostSlots: number;
  readonly storages: StoragePlaces;
  /** Called at intervals during a long launch, to show that it progresses. */
  readonly onProgress: () => void;
};

/**
 * The reason why a run's configuration cannot be launched, as a complete sentence. The failure is the run's: it counts
 * as a restart, and not against the agent.
 */
export class LaunchProblem extends Error {
  override readonly name = "LaunchProblem";
}

/**
 * The reason why this host cannot launch a run now, as a complete sentence. The scheduler avoids the agent for a while.
 */
export class HostProblem extends Error {
  override readonly name: string = "HostProblem";
}

/**
 * The part of a configuration that this host lacks, as a complete sentence. Another host may have it, so the run is
 * tried there, a few times in all; it counts neither against the agent nor as a restart.
 */
export class LackProblem extends HostProblem {
  override readonly name = "LackProblem";
  /** Whether waiting does not bring it here, so that the run is not tried on this host again. */
  readonly lasting: boolean;

  constructor(message: string, options: ErrorOptions & { readonly lasting?: boolean } = {}) {
    super(message, options);
    this.lasting = options.lasting === true;
  }
}

/** Returns the part of an exit's record that says whether the host lacks something, and for good. */
export function lackOf(error: unknown): { lacking?: true; lasting?: true } {
  if (!(error instanceof LackProblem)) return {};
  return error.lasting ? { lacking: true, lasting: true } : { lacking: true };
}

export interface Runtime {
  /** The mechanism by which a run's processes are found and ended, as reported. */
  readonly mechanism: Mechanism;
  /** The engine of containers; absent for processes. */
  readonly engine?: EngineWatch;
  /** Whether killed runs may leave files in the host's /dev/shm. */
  readonly sharesMemory: boolean;
  /**
   * Provides the run's needs besides its code, and returns how to start it; starts nothing. Throws LaunchProblem,
   * HostProblem, or another error; once the signal has aborted, any error.
   */
  order(launching: Launching, signal: AbortSignal): Promise<StartOrder>;
  /**
   * Removes the remains of all runs except the running ones, which are given by their keys. May be called at any time
   * and repeatedly. Throws if the remains cannot be listed.
   */
  sweep(running: () => ReadonlySet<string>): Promise<void>;
}
