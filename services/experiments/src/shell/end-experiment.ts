/** Ends an experiment of which nothing more can come: no trial is open, and none will be. */
import { TrialOutcome } from "@trainyard/contracts/events";
import { assert, isRejection, trialId } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import { type SearchState, trialsNotOver } from "../core/foreign/search.ts";
import { experimentEnd, isClosed, mayEnd } from "../core/policy/experiment-end.ts";
import { experiments, searches, trials } from "../streams.ts";

/** Looks at each trial that the search does not know as over: where there are many, `FanOuts` does so. */
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

/** None of its trials is open, and none will be. */
export async function decideEnd(work: Work, id: string): Promise<void> {
  const experiment = await work.load(foldOf(experiments), id);
  const search = await work.load(searches, id);
  if (!mayEnd(experiment, search)) return;
  const end = experimentEnd(experiment, search, await lastFailure(work, id, search));
  const decided = await work.decide(experiments, id, { kind: "end", ...end });
  assert(!isRejection(decided), `experiment ${id} can end`);
}

/** The reason beside "failed" for people: of the last trial, which in a single training is the only one. */
async function lastFailure(work: Work, id: string, search: SearchState): Promise<string> {
  if (search.proposed === 0) return "";
  const last = trialId(id, search.proposed);
  const { end } = await work.load(foldOf(trials), last);
  return end?.outcome === TrialOutcome.FAILED ? `trial ${last}: ${end.reason}` : "";
}
