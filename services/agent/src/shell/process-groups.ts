/**
 * Chooses the mechanism that holds a run's processes together: the configured one, or the best that this host allows.
 */
import { Fault } from "@trainyard/kernel";
import { cgroupProblem } from "../state/cgroup.ts";
import type { ProcessMechanism } from "../state/run-group.ts";
import { parentProblem } from "../supervisor/leader.ts";

export type ProcessGroups = {
  readonly mechanism: ProcessMechanism;
  /** The reasons why better mechanisms are not available. */
  readonly problems: readonly string[];
};

/** Throws if the configured mechanism is not available here. */
export function findProcessGroups(asked: ProcessMechanism | "auto"): ProcessGroups {
  const problems: string[] = [];
  for (const [mechanism, problemOf] of better) {
    if (asked !== "auto" && asked !== mechanism) continue;
    const problem = problemOf();
    if (problem === null) return { mechanism, problems };
    problems.push(`${mechanism}: ${problem}`);
  }
  if (asked === "auto" || asked === "scan") return { mechanism: "scan", problems };
  throw new Fault(
    "no_process_groups",
    `TRAINYARD_AGENT_PROCESS_GROUPS is ${asked}, which this host does not allow (${problems.join("; ")}): set it to auto`,
    { retry: "never" },
  );
}

const better: readonly (readonly [ProcessMechanism, () => string | null])[] = [
  ["cgroup", cgroupProblem],
  ["parent", parentProblem],
];
