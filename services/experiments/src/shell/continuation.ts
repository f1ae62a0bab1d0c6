/** Advances the trials that a continued search includes: those of `SearchContinued`, in parts. */
import type { EventData } from "@trainyard/contracts";
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import { searcherFacts } from "@trainyard/experiment-config/recorded";
import { assert, trialId } from "@trainyard/kernel";
import { foldOf, type Reaction, runtimeLimits, type Work } from "@trainyard/runtime";
import { TrialOutcome } from "@trainyard/contracts/events";
import { isStopping } from "../core/decisions/next-step.ts";
import { limits } from "../limits.ts";
import { experiments, trials } from "../streams.ts";
import { advance, decideTrial, type Waits } from "./advance.ts";

export type Proposal = EventData<"TrialProposed">;

/** Reads the search's proposal with a number; null for none. */
export type Proposals = (experiment: string, number: number) => Promise<Proposal | null>;

/**
 * Reads the proposal of a trial that was never created because its experiment was stopped at that moment. Such trials
 * are few and rare.
 */
export function proposalsOf(log: EventLog): Proposals {
  return async (experiment, number) => {
    for (let version = 0; ; ) {
      const page = await log.read(`search-${experiment}`, version, runtimeLimits.pageEvents);
      if (page.length === 0) return null;
      for (const stored of page) {
        if (shortNameOf(stored.type) !== "TrialProposed") continue;
        const event = decodeEvent(stored);
        if (event.type === "TrialProposed" && event.data.number === number) return event.data;
      }
      version += page.length;
    }
  };
}

export type TakingUp = {
  readonly waits: Waits;
  readonly proposals: Proposals;
  readonly create: (work: Work, experiment: string, proposed: Proposal) => Promise<void>;
};

export async function takeUpTrials(
  { id, data }: Reaction<"SearchContinued">,
  work: Work,
  deps: TakingUp,
): Promise<void> {
  for (const [index, number] of data.trials.entries()) {
    await takeUp(work, id, number, data.continuation, deps);
    if ((index + 1) % limits.trialsPerPart === 0) await work.part();
  }
}

async function takeUp(
  work: Work,
  experiment: string,
  number: number,
  continuation: number,
  { waits, proposals, create }: TakingUp,
): Promise<void> {
  const state = await work.guard(foldOf(experiments), experiment);
  // The experiment was stopped again meanwhile. Its search is informed, and the next continuation includes the trial.
  if (isStopping(state)) return;
  const id = trialId(experiment, number);
  const { status, end } = await work.load(foldOf(trials), id);
  if (status === "none") {
    const proposed = await proposals(experiment, number);
    assert(proposed !== null, `the search has proposed trial ${id}`);
    return create(work, experiment, proposed);
  }
  if (status === "ended") {
    await decideTrial(work, id, { kind: "continue", continuation });
    // The trial had completed before its experiment's stop reached it, which the search does not know.
    if (
      end !== null &&
      wasTrained(end.outcome) &&
      !searcherFacts(state.size.algorithm).hasOneTrial
    ) {
      await decideTrial(work, id, { kind: "end", ...end });
      return;
    }
  }
  await advance(work, id, waits);
}

function wasTrained(outcome: TrialOutcome): boolean {
  return outcome === TrialOutcome.COMPLETED || outcome === TrialOutcome.STOPPED_EARLY;
}
