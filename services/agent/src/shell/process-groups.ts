/**
 * Chooses the mechanism that holds a run's processes together: the configured one, or the best that this host allows.
 */
import { Fault } from "@trainyard/kernel";
import type { ProcessMechanism } from "../state/run-group.ts";
import type { Holding } from "../supervisor/python.ts";

export type ProcessGroups = {
  readonly mechanism: ProcessMechanism;
  /** The reasons why a better mechanism is not available. */
  readonly problems: readonly string[];
};

/** Throws if no process can be a run here, or if the configured mechanism is not available. */
export function chooseProcessGroups(
  asked: ProcessMechanism | "auto",
  { cgroup, parent }: Holding,
  hasLimits = false,
): ProcessGroups {
  if (parent !== null) {
    throw new Fault(
      "no_process_runs",
      `this host offers no runs as processes, which Python 3 holds (${parent}): install Python 3.6 or later, or let the agent run containers (TRAINYARD_AGENT_RUNTIME)`,
      { retry: "never" },
    );
  }
  if (hasLimits && (asked === "parent" || cgroup !== null)) {
    const why = cgroup ?? "TRAINYARD_AGENT_PROCESS_GROUPS is parent";
    throw new Fault(
      "no_run_limits",
      `TRAINYARD_AGENT_MEMORY or TRAINYARD_AGENT_PIDS is set, and a run has no cgroup with that limit (${why}): docs/howto/hold-the-processes-of-a-run.md says what the host needs, or unset them`,
      { retry: "never" },
    );
  }
  if (asked === "parent") return { mechanism: "parent", problems: [] };
  if (cgroup === null) return { mechanism: "cgroup", problems: [] };
  if (asked === "auto") return { mechanism: "parent", problems: [`cgroup: ${cgroup}`] };
  throw new Fault(
    "no_process_groups",
    `TRAINYARD_AGENT_PROCESS_GROUPS is cgroup, which this host does not allow (${cgroup}): set it to auto`,
    { retry: "never" },
  );
}
