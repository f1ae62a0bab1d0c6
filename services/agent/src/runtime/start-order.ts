/** The order to start a run, which the agent sends to the run's supervisor as one line of JSON. */
import type { ContainerBody } from "../core/container-body.ts";
import type { LibpodBody } from "../core/libpod-body.ts";
import type { OwnFolders } from "../core/own-folders.ts";
import type { RunLimits } from "../core/run-limits.ts";
import type { ProcessMechanism } from "../state/run-group.ts";
import type { RunUser } from "../state/run-user.ts";

/** A run as a process of this host. */
export type ProcessOrder = {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The folder in which the process runs. */
  readonly work: string;
  /** The user of the process; absent for the supervisor's user. */
  readonly user?: RunUser;
  /** The mechanism that holds the run's processes together; "auto" is the best that this host allows. */
  readonly mechanism: ProcessMechanism | "auto";
  readonly limits?: RunLimits;
  /** Absent if the host's folders stay. */
  readonly own?: OwnFolders;
};

/** A run in a container, whose body includes the command. */
export type ContainerOrder = {
  readonly socket: string;
  readonly name: string;
  /** The folder of the pipes, in the run's folder. */
  readonly pipes: string;
  readonly body: ContainerBody;
  /** The same container for Podman's own API, if that is needed. */
  readonly libpod?: LibpodBody;
};

export type StartOrder = ProcessOrder | ContainerOrder;
