import type { AnyEvent, EventData } from "@trainyard/contracts";

type Json = EventData<"ExperimentCreated">["config"];

/** What a launch needs of an experiment. */
export type ExperimentCode = { readonly config: NonNullable<Json>; readonly contextDigest: string };

export const initialExperiment: ExperimentCode | null = null;

export function evolveExperiment(
  state: ExperimentCode | null,
  event: AnyEvent,
): ExperimentCode | null {
  if (event.type !== "ExperimentCreated") return state;
  return { config: event.data.config ?? {}, contextDigest: event.data.contextDigest };
}
