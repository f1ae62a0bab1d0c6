/** Reads a recorded configuration of a task; never fails: absent or malformed values get their defaults. */
import { durationSeconds } from "../duration.ts";
import { countAt, flagAt, isMapping, mappingAt, textAt, textsAt, valueAt } from "../json.ts";
import { type RequestedResources, requestedResources } from "../requested-resources.ts";
import { resources } from "../sections/resources.ts";
import { type VariablesByDevice, variablesByDevice } from "../sections/variables.ts";

export type RecordedTask = {
  /** A text is run by the shell, a list directly; empty for a shell without a command. */
  readonly entrypoint: string | readonly string[];
  /** The resources of each run. A task runs on one agent. */
  readonly resources: RequestedResources;
  /** Whether a run makes room for others, and is queued again afterwards. */
  readonly preemptible: boolean;
  /** How often a failed or lost run is repeated. */
  readonly maxRestarts: number;
  readonly variables: VariablesByDevice;
};

const SLOTS = 1;
/** In seconds, from the notice and SIGTERM to the kill. A task has no checkpoint to write, unlike a trial. */
const PREEMPTION_TIMEOUT = 300;

export function recordedTask(struct: unknown): RecordedTask {
  const recorded = isMapping(struct) ? struct : {};
  const section = mappingAt(recorded, "resources");
  const timeout = durationSeconds(valueAt(recorded, "preemption_timeout")) ?? PREEMPTION_TIMEOUT;
  const asked = resources.read(section);
  const own = { slots_per_trial: countAt(section, "slots", SLOTS), is_single_node: true };
  const requested = { resources: { ...asked, ...own }, preemption_timeout: timeout };
  const words = textsAt(recorded, "entrypoint");
  const environment = mappingAt(recorded, "environment");
  return {
    entrypoint: words.length > 0 ? words : textAt(recorded, "entrypoint"),
    resources: requestedResources(requested),
    preemptible: flagAt(section, "preemptible", false),
    maxRestarts: countAt(recorded, "max_restarts", 0),
    variables: variablesByDevice(valueAt(environment, "environment_variables")),
  };
}
