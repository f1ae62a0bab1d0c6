/** The distinct environments of an experiment's runs, up to a limit. */
import type { EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";

export type EnvironmentEvent = EventOf<"EnvironmentRecorded">;
export type Environments = readonly EnvironmentEvent["data"][];

/** The limit of environments: runs of one experiment have one, or a few while its image or its agents change. */
const recordedMax = 16;

export function isNewEnvironment(known: Environments, digest: string): boolean {
  return known.length < recordedMax && known.every((one) => one.digest !== digest);
}

export const environmentDecider: Decider<Environments, EnvironmentEvent["data"], EnvironmentEvent> =
  {
    initial: [],
    decide: (known, data) =>
      isNewEnvironment(known, data.digest) ? [{ type: "EnvironmentRecorded", data }] : [],
    evolve: (known, { data }) => [...known, data],
  };
