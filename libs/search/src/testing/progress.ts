/** The progress of whole searches that are run in virtual time. */
import type { HyperparameterSpace, SearcherConfig } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import type { SearchEvent } from "../events.ts";
import {
  emptyTally,
  endedPlace,
  moved,
  newPlace,
  placeAfter,
  progressOf,
  type Tally,
  timeLeft,
  type TrialPlace,
  type UnitPlan,
  unitPlanOf,
} from "../progress/index.ts";
import { runSearch, type SimulatedRun, type World } from "../simulation/run.ts";
import { pbtOf, TestPopulation } from "./population.ts";
import { configOf, spaceOfTwo } from "./searches.ts";

/** The units after an event of a search. */
export type Moment = {
  /** The time of the event in the simulation, in steps. */
  readonly at: number;
  readonly trained: number;
  readonly progress: number;
  /** The estimated time until the end of the search; null for none. */
  readonly left: number | null;
};

type Clock = {
  /** The most trials that train at a time. */
  readonly workers: number;
  /** Returns the time of the nth observation, from 0. */
  readonly atOf: (observation: number) => number;
};

function momentsOf(
  searcher: SearcherConfig,
  space: HyperparameterSpace,
  events: readonly SearchEvent[],
  { workers, atOf }: Clock,
): readonly Moment[] {
  const moments: Moment[] = [];
  const places = new Map<number, TrialPlace>();
  let plan: UnitPlan | null = null;
  let tally: Tally | null = null;
  let observations = 0;
  let ran = 0;
  let worked = 0;
  for (const event of events) {
    if (event.type === "SearchStarted") {
      plan = unitPlanOf(searcher, space, event.data.trialsMax);
      tally = plan === null ? null : emptyTally(plan);
    }
    if (event.type === "ObservationRecorded") observations += 1;
    if (plan === null || tally === null) continue;
    const at = observations === 0 ? 0 : atOf(observations - 1);
    worked += Math.min(workers, tally.training) * (at - ran);
    ran = at;
    const trial = trialOf(event);
    const before = places.get(trial) ?? null;
    const after = placeOf(plan, before, event);
    tally = moved(plan, tally, before, after);
    if (after !== null) places.set(trial, after);
    moments.push({
      at,
      trained: tally.trained,
      progress: progressOf(plan, tally),
      left: timeLeft(plan, tally, { ran, worked }),
    });
  }
  return moments;
}

function placeOf(plan: UnitPlan, before: TrialPlace | null, event: SearchEvent): TrialPlace | null {
  if (event.type === "TrialProposed") return newPlace(event.data.startFromTime ?? 0);
  if (before === null) return null;
  if (event.type === "TrialOutcomeRecorded") return endedPlace(plan, before, event.data.outcome);
  return placeAfter(plan, before, event);
}

function trialOf(event: SearchEvent): number {
  if (event.type === "TrialProposed") return event.data.number;
  return "trial" in event.data ? Number(event.data.trial) : 0;
}

/** The order of the trials' losses, by their numbers. */
export type LossOrder = "random" | "best first" | "worst first";

/** Runs a search whose trials' losses fall with time towards values in an order. */
export function simulatedRun(
  searcher: SearcherConfig,
  { seed, workers, order = "random" }: SimulatedBy,
  space: HyperparameterSpace = spaceOfTwo,
): SimulatedRun {
  const steps = "max_time" in searcher ? (searcher.max_time ?? 10) : 10;
  const finalLoss = {
    random: (trial: number) => draw(seed, "loss", trial),
    "best first": (trial: number) => trial,
    "worst first": (trial: number) => -trial,
  }[order];
  const world: World = ({ number, hyperparameters = {} }) => ({
    hyperparameters,
    steps,
    stepTime: 1 + draw(seed, "speed", number) / 4,
    valueAt: (step) => finalLoss(number) + 1 / step,
  });
  return runSearch({ config: configOf(searcher, space), seed, workers, world });
}

export type SimulatedBy = {
  readonly seed: number;
  readonly workers: number;
  readonly order?: LossOrder;
};

/** The moments of a simulated search. */
export function simulatedMoments(
  searcher: SearcherConfig,
  by: SimulatedBy,
  space: HyperparameterSpace = spaceOfTwo,
): readonly Moment[] {
  const { events, steps } = simulatedRun(searcher, by, space);
  const atOf = (observation: number) => steps[observation]?.at ?? 0;
  return momentsOf(searcher, space, events, { workers: by.workers, atOf });
}

/** The moments of a population of eight members that train at once. */
export function populationMoments(seed: number): readonly Moment[] {
  const searcher = pbtOf({ population_size: 8, max_time: 40, interval: 5, max_trials: 100 });
  const population = new TestPopulation(
    {
      initial: 0,
      step: (state: number, { lr }) => state + Number(lr),
      valueOf: (state) => -state,
    },
    1,
  );
  population.start(searcher, spaceOfTwo, seed);
  population.run();
  const { events } = population.search;
  const times = events.flatMap((event) =>
    event.type === "ObservationRecorded" ? [event.data.time] : [],
  );
  const atOf = (observation: number) => times[observation] ?? 0;
  return momentsOf(searcher, spaceOfTwo, events, { workers: 8, atOf });
}
