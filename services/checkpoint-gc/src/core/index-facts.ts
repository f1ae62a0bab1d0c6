/** The facts of other services' events that the index keeps about runs and references. */
import type { AnyEvent } from "@trainyard/contracts";
import { recordedSource } from "@trainyard/experiment-config/recorded";
import { parseReportKey, parseRunId, type ReportKey } from "@trainyard/kernel";

type OfRun = { readonly trial: string; readonly run: number };

export type IndexFact =
  | (OfRun & {
      readonly kind: "declared";
      readonly checkpoint: string;
      readonly step: number;
      /** The last validation that the run recorded before; empty for none. */
      readonly lastValidation: string;
    })
  | (OfRun & { readonly kind: "arrived"; readonly key: ReportKey })
  /** The end of a run, with the last validation that it names; null if it names none. A later one may name it. */
  | (OfRun & { readonly kind: "run_ended"; readonly lastValidation: string | null })
  /** A trial, a task, or an experiment whose trials start from it, may need the checkpoint. */
  | { readonly kind: "refers"; readonly checkpoint: string; readonly referrer: string }
  /** The references of an ended trial count again when the trial is continued. */
  | { readonly kind: "references_rest" | "references_count"; readonly referrer: string }
  | { readonly kind: "references_end"; readonly referrer: string };

/** Returns the facts of an event of the stream with this id. */
export function indexFacts(event: AnyEvent, id: string): readonly IndexFact[] {
  switch (event.type) {
    case "CheckpointDeclared": {
      const { trial, run, step, lastValidation = "" } = event.data;
      // The facts are about validations: the run of a task has none, and an uploaded folder has no run.
      if (trial === "") return [];
      return [{ kind: "declared", checkpoint: id, trial, run, step, lastValidation }];
    }
    case "ValidationReported": {
      const key = parseReportKey(event.data.reportKey);
      return key === null ? [] : [{ kind: "arrived", trial: id, run: event.data.run, key }];
    }
    case "AllocationEnded":
      return ended(id, event.data.lastValidation ?? null);
    case "AgentReturned":
      return (event.data.left?.runs ?? []).flatMap(({ allocation, lastValidation }) =>
        lastValidation === undefined ? [] : ended(allocation, lastValidation),
      );
    case "TrialCreated":
      return refers(event.data.warmStartCheckpoint, id);
    case "RunRequested":
      return refers(event.data.fromCheckpoint, id);
    case "ExperimentCreated":
      return refers(recordedSource(event.data.config)?.checkpoint ?? "", id);
    case "TrialEnded":
    case "TaskEnded":
      return [{ kind: "references_rest", referrer: id }];
    case "TrialContinued":
    case "TaskResumed":
      return [{ kind: "references_count", referrer: id }];
    // The end of an experiment removes no reference: a continued experiment starts trials from the checkpoint again.
    case "ExperimentDeleted":
    case "TaskDeleted":
      return [{ kind: "references_end", referrer: id }];
    default:
      return [];
  }
}

function ended(allocation: string, lastValidation: string | null): readonly IndexFact[] {
  const parts = parseRunId(allocation);
  if (parts === null) return [];
  return [{ kind: "run_ended", trial: parts.trial, run: parts.run, lastValidation }];
}

function refers(checkpoint: string, referrer: string): readonly IndexFact[] {
  return checkpoint === "" ? [] : [{ kind: "refers", checkpoint, referrer }];
}
