/** Successive halving in brackets as an algorithm: which plan it follows is all that its variants differ in. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { Json, SearcherConfig } from "@trainyard/experiment-config";
import type { Algorithm } from "../algorithm.ts";
import type { SearchEvent } from "../events.ts";
import { axesOfPlan } from "../algorithms/model-memory.ts";
import { placeOf } from "../space/axes.ts";
import { searchLimits } from "../limits.ts";
import { pointOfTrial } from "../space/points.ts";
import { isConstant } from "../space/space.ts";
import type { RunningSearch, SearchPlan } from "../state.ts";
import {
  emptyHalving,
  ended,
  type Halving,
  observed,
  promoted,
  proposed,
  stopped,
  suspended,
  WORST,
} from "./memory.ts";
import type { HalvingPlan } from "./plan.ts";
import type { Proposer } from "./proposer.ts";
import { probing, told } from "./rise.ts";
import { PROBE, type Proposals, type Step, Turn } from "./turn.ts";

export function trialsOf({ brackets }: HalvingPlan): number {
  return brackets.reduce((sum, { trials }) => sum + trials, 0);
}

export function halving(
  name: string,
  version: number,
  planOf: (config: SearcherConfig) => HalvingPlan,
  proposer?: Proposer,
): Algorithm {
  return {
    name,
    version,
    ...(proposer === undefined ? {} : { learns: true }),
    sizeOf: (config) => {
      const plan = planOf(config);
      return { trialsMax: trialsOf(plan), concurrentTrialsMax: plan.concurrent };
    },
    initial: (config) =>
      emptyHalving(planOf(config as unknown as SearcherConfig)) as unknown as Json,
    evolve: (memory, event, search) =>
      evolved(memory as unknown as Halving, event, search, proposer) as unknown as Json,
    on: (search, observation) => {
      const { plan } = search;
      const turn = new Turn(search.memory as unknown as Halving, plan.smallerIsBetter, {
        pointOf:
          proposer === undefined ? (trial) => pointOfTrial(plan, trial) : seen(plan, proposer),
        most: proposalsAtOnce(plan),
      });
      if (observation.kind === "validated") turn.settle(observation.trial);
      turn.fill();
      foreseen = turn.steps;
      return turn.decisions;
    },
  };
}

/** A proposer that is told what it has proposed in the same decision. */
function seen(plan: SearchPlan, proposer: Proposer): Proposals["pointOf"] {
  const more: (readonly number[])[] = [];
  return (trial, halving) => {
    const point = proposer(plan, halving, trial, more);
    more.push(placeOf(axesOfPlan(plan), point.hyperparameters));
    return point;
  };
}

function proposalsAtOnce({ spaceBytes }: SearchPlan): number {
  const bytesAllow = Math.floor(searchLimits.proposalBytesPerDecisionMax / spaceBytes);
  return Math.max(1, Math.min(searchLimits.proposalsPerDecisionMax, bytesAllow));
}

/** The steps of the turn that was taken last and has not been folded: whoever carries a decision out folds it next. */
let foreseen: Step[] = [];

function stepOf(memory: Halving, { type, data }: SearchEvent): Halving | null {
  const [step] = foreseen;
  if (step === undefined || step.before !== memory || step.type !== type) return null;
  const trial = type === "TrialProposed" ? data.number : data.trial;
  if (trial !== step.trial) return null;
  foreseen.shift();
  return step.after;
}

function evolved(
  memory: Halving,
  event: SearchEvent,
  search: RunningSearch,
  proposer: Proposer | undefined,
): Halving {
  if (proposer === undefined || event.type !== "TrialProposed") {
    return stepOf(memory, event) ?? folded(memory, event, search);
  }
  // Where a trial lies is what its event says, and not what the turn foresaw.
  const at = placeOf(axesOfPlan(search.plan), event.data.hyperparameters ?? {});
  return proposed(memory, at);
}

function folded(memory: Halving, event: SearchEvent, search: RunningSearch): Halving {
  switch (event.type) {
    case "TrialProposed":
      return proposed(memory);
    case "ObservationRecorded": {
      const { trial, time, values, repeat } = event.data;
      const value = values[search.plan.metric];
      if (repeat || value === undefined) return memory;
      const ranked = rankedValue(value, search.plan.smallerIsBetter);
      return told(observed(memory, trial, time, ranked), trial);
    }
    case "TrialSuspended":
      return suspended(memory, event.data.trial);
    case "TrialResumed": {
      const { trial, rule } = event.data;
      return told(rule === PROBE ? probing(memory, trial) : promoted(memory, trial), trial);
    }
    case "TrialStopDecided":
      return stopped(memory, event.data.trial);
    case "SearchStopDecided":
      return { ...memory, finished: true };
    case "TrialOutcomeRecorded": {
      const { trial, outcome } = event.data;
      return ended(memory, trial, outcome, isReplaceable(memory, search, outcome));
    }
    default:
      return memory;
  }
}

/** What is not finite counts as the worst, infinities too: a training that has come to them is not better than any. */
function rankedValue(value: number, smallerIsBetter: boolean): number {
  if (!Number.isFinite(value)) return WORST;
  return smallerIsBetter ? value : 0 - value;
}

/** As many as random search replaces, and not where every trial is alike. */
function isReplaceable(memory: Halving, { plan }: RunningSearch, outcome: TrialOutcome): boolean {
  if (outcome !== TrialOutcome.INVALID_HYPERPARAMETERS || isConstant(plan.space)) return false;
  return memory.replaced < Math.max(searchLimits.replacementsMin, plan.trialsMax);
}
