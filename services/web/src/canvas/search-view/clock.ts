/**
 * The x axis of a search without rungs. Where trials continue each other, as in a population, x is the trial's own
 * time, so that a lane is as long as its training and a copy begins where its donor's checkpoint was. Otherwise x is
 * the search's time: the training of all trials so far.
 */
import type { Picture, PictureDecision, PictureTrial } from "./layout.ts";

export type Clock = {
  readonly of: "trial" | "search";
  /** The largest time, which is at the right end. */
  readonly span: number;
  readonly start: (trial: PictureTrial) => number;
  readonly end: (trial: PictureTrial) => number;
  readonly at: (trial: PictureTrial, decision: PictureDecision) => number;
};

export function clockOf(picture: Picture): Clock {
  return continuesTrials(picture) ? ownClock(picture) : searchClock(picture);
}

/** Whether trials may continue others: a copy of a population may still be to come. */
function continuesTrials({ algorithm, trials }: Picture): boolean {
  return algorithm === "pbt" || trials.some(({ startFromTrial }) => startFromTrial !== undefined);
}

function ownClock({ trials }: Picture): Clock {
  const start = ({ startFromTime = 0 }: PictureTrial): number => startFromTime;
  const end = (trial: PictureTrial): number => Math.max(start(trial), trial.time);
  return {
    of: "trial",
    span: Math.max(1, ...trials.map(end)),
    start,
    end,
    at: (trial, { evidence = {} }) => {
      const time = evidence["time"] ?? evidence["units"];
      const known = typeof time === "number" ? time : end(trial);
      return Math.min(end(trial), Math.max(start(trial), known));
    },
  };
}

function searchClock({ units }: Picture): Clock {
  const start = ({ proposed }: PictureTrial): number => proposed?.units ?? 0;
  return {
    of: "search",
    span: Math.max(units, 1),
    start,
    end: (trial) => endOf(trial, start(trial), units),
    at: (_, { at }) => at?.units ?? 0,
  };
}

/**
 * The search's time at which the trial is last known to have trained: the present, or its last decision. A trial that
 * ended without a decision trained at least its own time after its proposal.
 */
function endOf({ state, time, decisions }: PictureTrial, start: number, now: number): number {
  if (state === "running" || state === "suspended") return now;
  return Math.max(decisions.at(-1)?.at?.units ?? 0, start + time);
}
