/** Ends an experiment that has no open trial and will have none. */
import { TrialOutcome } from "@trainyard/contracts/events";
import { assert, isRejection, trialId } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import { type SearchState, trialsNotOver } from "../core/foreign/search.ts";
import { experimentEnd, isClosed, mayEnd } from "../core/decisions/experiment-end.ts";
import { experiments, searches, trials } from "../streams.ts";

/** Checks each trial that is not over for the search. For many trials, `FanOuts` does so instead. */
export async function endExperiment(work: Work, id: string): Promise<void> {
  const experiment = await work.load(foldOf(experiments), id);
  const search = await work.load(searches, id);
  if (!mayEnd(experiment, search)) return;
  for (const number of trialsNotOver(search)) {
    const trial = await work.load(foldOf(trials), trialId(id, number));
    if (!isClosed(experiment, trial)) return;
  }
  await decideEnd(work, id);
}

/** Decides the end of an experiment that has no open trial. */
export async function decideEnd(work: Work, id: string): Promise<void> {
  const experiment = await work.load(foldOf(experiments), id);
  const search = await work.load(searches, id);
  if (!mayEnd(experiment, search)) return;
  const end = experimentEnd(experiment, search, await lastFailure(work, id, search));
  const decided = await work.decide(experiments, id, { kind: "end", ...end });
  assert(!isRejection(decided), `experiment ${id} can end`);
}

/** Returns the reason of the last failed trial, to show beside "failed"; a single search has only one trial. */
async function lastFailure(work: Work, id: string, search: SearchState): Promise<string> {
  if (search.proposed === 0) return "";
  const last = trialId(id, search.proposed);
  const { end } = await work.load(foldOf(trials), last);
  return end?.outcome === TrialOutcome.FAILED ? `trial ${last}: ${end.reason}` : "";
}
