import type { AnyEvent, EventData } from "@trainyard/contracts";
import { continuedConfig } from "@trainyard/experiment-config/recorded";

type Json = EventData<"ExperimentCreated">["config"];

/** The facts of an experiment that a launch needs, and whether its runs can still be changed. */
export type ExperimentCode = {
  readonly config: NonNullable<Json>;
  readonly contextDigest: string;
  readonly ended: boolean;
};

export const initialExperiment: ExperimentCode | null = null;

export function evolveExperiment(
  state: ExperimentCode | null,
  event: AnyEvent,
): ExperimentCode | null {
  if (event.type === "ExperimentEnded" && state !== null) return { ...state, ended: true };
  if (event.type === "ExperimentContinued" && state !== null) {
    const config = continuedConfig(state.config, event.data) as ExperimentCode["config"];
    return { ...state, config, ended: false };
  }
  if (event.type !== "ExperimentCreated") return state;
  const { config, contextDigest } = event.data;
  return { config: config ?? {}, contextDigest, ended: false };
}
