/**
 * The gateway's read model as a pure fold: each event changes the documents of the entities that it is about. The set
 * has the rows that `touchedBy` names. An entity without a row was never created, so the event changes nothing.
 */
import type { AnyEvent, EventName } from "@trainyard/contracts";
import { idOf } from "@trainyard/kernel";
import type { DocumentSet } from "./documents.ts";
import { agentProjections } from "./project-agent.ts";
import { checkpointProjections } from "./project-checkpoint.ts";
import { experimentProjections } from "./project-experiment.ts";
import { jobProjections } from "./project-job.ts";
import { modelProjections } from "./project-model.ts";
import { phaseProjections } from "./project-phases.ts";
import { progressProjections } from "./project-progress.ts";
import { spaceProjections } from "./project-space.ts";
import { taskProjections } from "./project-task.ts";
import { tokenProjections } from "./project-token.ts";
import { trialProjections } from "./project-trial.ts";
import { warningProjections } from "./project-warnings.ts";
import type { Projected, Projections } from "./projections.ts";

type AnyProjection = (event: Projected<EventName>, documents: DocumentSet) => void;

const parts: readonly Projections[] = [
  experimentProjections,
  trialProjections,
  checkpointProjections,
  agentProjections,
  tokenProjections,
  modelProjections,
  spaceProjections,
  taskProjections,
  jobProjections,
  phaseProjections,
  // After the others, as these read the states that an event leads to.
  progressProjections,
  warningProjections,
];

/** The position and the time of an event in the log. */
export type LoggedAt = {
  readonly stream: string;
  readonly timeMs: number;
  readonly position: number;
};

/** Several projections may handle one event: a grant changes the trial's run and the agent's slots. */
export function project(
  { stream, timeMs, position }: LoggedAt,
  event: AnyEvent,
  documents: DocumentSet,
): void {
  const id = idOf(stream);
  const projected = { data: event.data, id, timeMs, position } as Projected<EventName>;
  for (const part of parts) {
    const projection = part[event.type] as AnyProjection | undefined;
    projection?.(projected, documents);
  }
}

/** Whether events with this name change documents. */
export function isProjected(name: string): boolean {
  return parts.some((part) => Object.hasOwn(part, name));
}
