/** Successive halving in brackets as an algorithm. Its variants differ only in their plans. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { HalvingSearcher, SearcherConfig } from "@trainyard/experiment-config";
import { assert } from "@trainyard/kernel";
import type { Algorithm } from "../algorithm.ts";
import type { SearchEvent } from "../events.ts";
import { searchLimits } from "../limits.ts";
import { axesOfPlan, placeOf } from "../space/axes.ts";
import { pointOfTrial } from "../space/points.ts";
import { isConstant } from "../space/space.ts";
import type { RunningSearch, SearchPlan } from "../state.ts";
import type { UndoLog } from "../undo-log.ts";
import type { HalvingPlan } from "./plan.ts";
import { measure, probe } from "./probes.ts";
import { PROBE, type Proposals, Turn } from "./promotion.ts";
import type { Proposer } from "./proposer.ts";
import {
  end,
  type Halving,
  newHalving,
  observe,
  promote,
  propose,
  stop,
  suspend,
  WORST,
} from "./state.ts";

export function trialsOf({ brackets }: HalvingPlan): number {
  return brackets.reduce((sum, { trials }) => sum + trials, 0);
}

export function halving<Config extends HalvingSearcher>(
  name: Config["name"],
  version: number,
  planOf: (config: Config) => HalvingPlan,
  proposer?: Proposer,
): Algorithm<Halving> {
  const isOwn = (config: SearcherConfig): config is Config => config.name === name;
  const planned = (config: SearcherConfig): HalvingPlan => {
    assert(isOwn(config), `it is ${name} that is configured`);
    return planOf(config);
  };
  return {
    name,
    version,
    ...(proposer === undefined ? {} : { learns: true }),
    sizeOf: (config) => {
      const plan = planned(config);
      return { trialsMax: trialsOf(plan), concurrentTrialsMax: plan.concurrent };
    },
    planned,
    initial: ({ searcher }) => newHalving(planned(searcher)),
    apply: (search, event, undo) => applyToHalving(search, event, proposer !== undefined, undo),
    on: ({ plan, memory }, observation, undo) => {
      const pointOf =
        proposer === undefined
          ? (trial: number) => pointOfTrial(plan, trial)
          : seen(plan, proposer);
      const proposals = { pointOf, most: proposalsAtOnce(plan) };
      const turn = new Turn(memory, plan.smallerIsBetter, proposals, undo);
      if (observation.kind === "validated") turn.settle(observation.trial);
      turn.fill();
      return turn.decisions;
    },
  };
}

/** Wraps a proposer so that it knows the places proposed earlier in the same decision. */
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

function applyToHalving(
  { memory, plan }: RunningSearch<Halving>,
  event: SearchEvent,
  isModelled: boolean,
  undo: UndoLog,
): void {
  switch (event.type) {
    case "TrialProposed": {
      const { hyperparameters = {} } = event.data;
      propose(memory, isModelled ? placeOf(axesOfPlan(plan), hyperparameters) : undefined, undo);
      break;
    }
    case "ObservationRecorded": {
      const { trial, time, values, repeat } = event.data;
      const value = values[plan.metric];
      if (repeat || value === undefined) break;
      observe(memory, trial, time, rankedValue(value, plan.smallerIsBetter), undo);
      measure(memory, trial, undo);
      break;
    }
    case "TrialSuspended":
      suspend(memory, event.data.trial, undo);
      break;
    case "TrialResumed": {
      const { trial, rule } = event.data;
      if (rule === PROBE) probe(memory, trial, undo);
      else promote(memory, trial, undo);
      measure(memory, trial, undo);
      break;
    }
    case "TrialStopDecided":
      stop(memory, event.data.trial, undo);
      break;
    case "SearchStopDecided":
      undo.set(memory, "finished", true);
      break;
    case "TrialOutcomeRecorded": {
      const { trial, outcome } = event.data;
      end(memory, trial, outcome, isReplaceable(memory, plan, outcome), undo);
      break;
    }
    default:
  }
}

/** Ranks a value that is not finite last, even an infinity in the better direction, since the training diverged. */
function rankedValue(value: number, smallerIsBetter: boolean): number {
  if (!Number.isFinite(value)) return WORST;
  return smallerIsBetter ? value : 0 - value;
}

/**
 * Whether a new trial replaces the ended one: replacements are limited as in random search, and none are made if all
 * trials are alike.
 */
function isReplaceable(memory: Halving, plan: SearchPlan, outcome: TrialOutcome): boolean {
  if (outcome !== TrialOutcome.INVALID_HYPERPARAMETERS || isConstant(plan.space)) return false;
  return memory.replaced < Math.max(searchLimits.replacementsMin, plan.trialsMax);
}
