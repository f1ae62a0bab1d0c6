import type { AnyEvent } from "@trainyard/contracts";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import type { Report } from "../invariants.ts";
import type { SearchRules } from "./searches.ts";
import type { TrialRules } from "./trials.ts";

export type ExperimentFacts = {
  active: boolean;
  stopping: boolean;
  ended: boolean;
  deleted: "no" | "asked" | "done";
  continuations: number;
  readonly maxRestarts: number;
  readonly maxConcurrent: number;
};

/**
 * The rule of experiments: an experiment ends once for each time that it is continued, together with its last trial.
 * Afterwards only its name, notes and labels change, and whether it is archived.
 */
export class ExperimentRules {
  readonly #facts = new Map<string, ExperimentFacts>();

  of(id: string): ExperimentFacts {
    const facts = this.#facts.get(id);
    if (facts === undefined) throw new Error(`experiment ${id} was never created`);
    return facts;
  }

  see(
    id: string,
    event: AnyEvent,
    report: Report,
    trials: TrialRules,
    searches: SearchRules,
  ): void {
    if (event.type === "ExperimentCreated") {
      if (this.#facts.has(id)) report("it was created before");
      this.#facts.set(id, factsOf(event.data.config ?? {}));
      return;
    }
    const facts = this.of(id);
    if (isOfDeletion(event)) return seeDeletion(facts, event, report);
    if (facts.deleted !== "no") report("the experiment was deleted");
    // Name, notes and labels may change at any time.
    if (event.type === "ExperimentDescribed") return;
    if (event.type === "ExperimentArchived" || event.type === "ExperimentUnarchived") {
      if (!facts.ended) report("the experiment had not ended");
      return;
    }
    if (event.type === "ExperimentContinued") {
      if (!facts.ended && facts.stopping) report("the experiment was stopping");
      if (!facts.ended && event.data.trial === undefined) report("the experiment had not ended");
      if (event.data.continuation !== facts.continuations + 1) report("a continuation is missing");
      facts.continuations += 1;
      if (facts.ended) facts.active = true;
      if (facts.ended) facts.stopping = false;
      facts.ended = false;
      return;
    }
    if (facts.ended) report("the experiment had ended");
    if (event.type === "ExperimentActivated") facts.active = true;
    if (event.type === "ExperimentPaused") facts.active = false;
    if (event.type === "ExperimentStopRequested") facts.stopping = true;
    if (event.type === "ExperimentEnded") {
      facts.ended = true;
      const open = trials.openOf(id);
      if (open.length > 0) report(`the trials ${open.join(", ")} had not ended`);
      const completed = event.data.outcome === ExperimentOutcome.COMPLETED;
      if (completed && facts.stopping) report("it was stopped and counts as completed");
      if (!facts.stopping && !searches.isCompleted(id, facts.continuations)) {
        report("the search was not complete");
      }
      if (!facts.stopping && trials.endedOf(id) < searches.proposedOf(id)) {
        report("a proposed trial never was");
      }
    }
  }
}

type DeletionEvent = Extract<
  AnyEvent,
  { type: "ExperimentDeletionRequested" | "ExperimentDeletionUndone" | "ExperimentDeleted" }
>;

function isOfDeletion(event: AnyEvent): event is DeletionEvent {
  return event.type.startsWith("ExperimentDelet");
}

/** A deletion is requested after the end, and then cancelled or carried out. */
function seeDeletion(facts: ExperimentFacts, { type }: DeletionEvent, report: Report): void {
  const isAsked = type === "ExperimentDeletionRequested";
  if (!facts.ended) report("the experiment had not ended");
  if (facts.deleted !== (isAsked ? "no" : "asked")) report(`its deletion was ${facts.deleted}`);
  if (type === "ExperimentDeleted") facts.deleted = "done";
  else facts.deleted = isAsked ? "asked" : "no";
}

type Json = Readonly<Record<string, unknown>>;

function factsOf(config: Json): ExperimentFacts {
  const searcher = (config["searcher"] ?? {}) as Json;
  return {
    active: false,
    stopping: false,
    ended: false,
    deleted: "no",
    continuations: 0,
    maxRestarts: Number(config["max_restarts"] ?? 5),
    maxConcurrent: Number(searcher["max_concurrent_trials"] ?? 0) || Number.POSITIVE_INFINITY,
  };
}
