import type { EventData, EventName } from "@trainyard/contracts";
import { parseRunId } from "@trainyard/kernel";
import type { DocumentSet } from "./documents.ts";

export type Projected<Name extends EventName> = {
  readonly data: EventData<Name>;
  /** The id of the entity, from the stream's name. */
  readonly id: string;
  readonly timeMs: number;
  readonly position: number;
};

export type Projections = {
  readonly [Name in EventName]?: (event: Projected<Name>, documents: DocumentSet) => void;
};

/** Returns the trial and number of the run of an allocation; null for another task. */
export function runOf(allocation: string): { readonly trial: string; readonly run: number } | null {
  const parsed = parseRunId(allocation);
  return parsed === null ? null : { trial: parsed.trial, run: parsed.run };
}
