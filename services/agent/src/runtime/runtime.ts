/**
 * The port to what runs launch in: processes of this host, or containers of an engine. A runtime says how a run is
 * started; the supervisor starts it (supervisor/main.ts), and the run's group signals, observes and adopts it from what
 * is on record (state/run-group.ts). So a run that one runtime has started is ended and adopted by an agent with
 * another.
 */
import type { Plain } from "@trainyard/contracts";
import type { Slot } from "@trainyard/contracts/events";
import type { StoragePlaces } from "../core/environment.ts";
import type { RunFolder } from "../state/run-folder.ts";
import type { Mechanism } from "../state/run-group.ts";
import type { StartOrder } from "../supervisor/main.ts";

export type Launching = {
  readonly folder: RunFolder;
  /** Where the model code is. */
  readonly work: string;
  readonly slots: readonly Plain<Slot>[];
  readonly storages: StoragePlaces;
  /** Called while it takes long: the launch moves. */
  readonly onProgress: () => void;
};

/**
 * Why a run cannot be launched as its configuration says, as a sentence that needs no other words. It is the run's own
 * failure: it counts as a restart, and not against the agent.
 */
export class LaunchProblem extends Error {
  override readonly name = "LaunchProblem";
}

/**
 * Why this host cannot launch a run now, as a sentence that needs no other words. The agent is not to be used for a
 * while.
 */
export class HostProblem extends Error {
  override readonly name: string = "HostProblem";
}

/**
 * The parts of a configuration that this host lacks, as a sentence that needs no other words. Another host may have it,
 * so the run is tried there, and a few times in all; it says nothing against the agent, and it is no restart.
 */
export class LackProblem extends HostProblem {
  override readonly name = "LackProblem";
}

export interface Runtime {
  /** How the processes of a run are found and ended; the report says it. */
  readonly mechanism: Mechanism;
  /**
   * Brings what the run needs beside its code, and says how it is started. Nothing is started. Throws LaunchProblem,
   * HostProblem, or what failed; once the signal has aborted, anything.
   */
  order(launching: Launching, signal: AbortSignal): Promise<StartOrder>;
  /**
   * Removes what is left of runs that are over, by the allocations that are not. May be called at any time and any
   * number of times. Throws where that cannot be known now.
   */
  sweep(running: () => ReadonlySet<string>): Promise<void>;
}
