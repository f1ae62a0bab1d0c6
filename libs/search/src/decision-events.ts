/** Converts decisions to the search's events, and makes the event of the search's completion. */
import type { EventData } from "@trainyard/contracts";
import { SearchCompletion } from "@trainyard/contracts/events";
import { assertNever } from "@trainyard/kernel";
import type { Decision, StartFrom } from "./algorithm.ts";
import { algorithmOf } from "./algorithms/registry.ts";
import type { SearchEvent } from "./events.ts";
import { budgetOfTrials, trialsAllowed } from "./early-stopping/policy-decisions.ts";
import { trialSeed } from "./space/space.ts";
import { proposedTrials, type RunningSearch } from "./state.ts";

/** Converts decisions to events, without proposals after the decision to finish or beyond the budget. */
export function eventsOf(
  search: RunningSearch,
  decisions: readonly Decision[],
): readonly SearchEvent[] {
  // Most reports cause no decision.
  if (decisions.length === 0) return [];
  const events: SearchEvent[] = [];
  const { trialsMax } = search.plan;
  const allowed = trialsAllowed(search);
  let number = proposedTrials(search);
  let { finishing } = search;
  for (const decision of decisions) {
    const proposes = decision.kind === "propose";
    if (finishing && (proposes || decision.kind === "finish")) continue;
    if (decision.kind === "finish") finishing = true;
    if (proposes) number += 1;
    events.push(eventOf(search, decision, number));
    if (!proposes || number !== allowed) continue;
    if (trialsMax !== 0 && number >= trialsMax) continue;
    finishing = true;
    events.push(eventOf(search, budgetOfTrials(allowed), number));
  }
  return events;
}

function eventOf(search: RunningSearch, decision: Decision, number: number): SearchEvent {
  switch (decision.kind) {
    case "propose": {
      const { hyperparameters, startFrom, seed, waits, origin, evidence } = decision;
      const data: EventData<"TrialProposed"> = {
        number,
        hyperparameters,
        seed: seed ?? trialSeed(search.plan.seed, number),
        searchVersion: search.version,
        origin,
        ...(evidence === undefined ? undefined : { evidence }),
        ...(startFrom === undefined ? undefined : startedFrom(startFrom)),
        ...(waits === undefined ? undefined : { waits }),
      };
      return { type: "TrialProposed", data };
    }
    case "stop": {
      const { trial, rule, evidence, fails } = decision;
      const data = { trial, rule, evidence };
      return { type: "TrialStopDecided", data: fails === true ? { ...data, fails } : data };
    }
    case "finish": {
      const { rule, evidence, fails } = decision;
      const data = { rule, evidence };
      return { type: "SearchStopDecided", data: fails === true ? { ...data, fails } : data };
    }
    case "suspend": {
      const { trial, rung, rule, evidence } = decision;
      return { type: "TrialSuspended", data: { trial, rung, rule, evidence } };
    }
    case "resume": {
      const { trial, target, rung, rule, evidence } = decision;
      return { type: "TrialResumed", data: { trial, target, rung, rule, evidence } };
    }
    default:
      return assertNever(decision, "a decision");
  }
}

function startedFrom({ trial, at }: StartFrom): Partial<EventData<"TrialProposed">> {
  if (at === null) return { startFromTrial: trial };
  return {
    startFromTrial: trial,
    startFromCheckpoint: at.checkpoint,
    startFromStep: at.step,
    startFromTime: at.time,
  };
}

function isToldWhenToEnd({ plan }: RunningSearch): boolean {
  return algorithmOf(plan).endsWhenTold === true;
}

/** Whether trials run, or more may be proposed. */
export function goesOn(search: RunningSearch): boolean {
  return search.unended > 0 || (isToldWhenToEnd(search) && !search.finishing);
}

/** The completion of a search without running or further trials. */
export function exhausted(search: RunningSearch): SearchEvent {
  return completed(search, exhaustion(search));
}

/** The reason of a completion when every trial has ended: exhausted, failed, or canceled trial by trial. */
function exhaustion(search: RunningSearch): SearchCompletion {
  const { outcomes, finishing, failing } = search;
  if (failing) return SearchCompletion.FAILED;
  if (finishing && isToldWhenToEnd(search)) return SearchCompletion.EXHAUSTED;
  const { trained, canceled, failed, invalid } = outcomes;
  if (trained > 0) return SearchCompletion.EXHAUSTED;
  return canceled > 0 && failed + invalid === 0
    ? SearchCompletion.CANCELED
    : SearchCompletion.FAILED;
}

export function completed({ best }: RunningSearch, reason: SearchCompletion): SearchEvent {
  const data =
    best === null ? { reason } : { reason, bestTrial: best.trial, bestValue: best.value };
  return { type: "SearchCompleted", data };
}
