import type { EventData, EventName } from "@trainyard/contracts";
import { parseRunId } from "@trainyard/kernel";
import type { DocumentSet } from "./documents.ts";

export type Projected<Name extends EventName> = {
  readonly data: EventData<Name>;
  /** The id in the stream's name. */
  readonly id: string;
  readonly timeMs: number;
  readonly position: number;
};

export type Projections = {
  readonly [Name in EventName]?: (event: Projected<Name>, documents: DocumentSet) => void;
};

/** The trial and number of an allocation that is a run's; null for another task's. */
export function runOf(allocation: string): { readonly trial: string; readonly run: number } | null {
  const parsed = parseRunId(allocation);
  return parsed === null ? null : { trial: parsed.trial, run: parsed.run };
}
