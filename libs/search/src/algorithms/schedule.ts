/**
 * A schedule trained as one run: the hyperparameters of each time along the line of a trial, as population-based
 * training finds them (`population/lineage.ts`).
 *
 * A trial's hyperparameters never change, so each segment of the schedule is a trial. Once a checkpoint of the trial
 * has reached the segment's end, the trial is stopped and the next one continues from that checkpoint. Until the
 * checkpoint exists, the trial continues. The last segment trains until its end.
 *
 * If a segment fails, the search fails. If the training code of a segment ends before the segment's time, the schedule
 * is complete.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import {
  type HyperparameterSpace,
  isTyped,
  type JsonObject,
  type ScheduleSearcher,
  type ScheduleSegment,
  type SearcherConfig,
} from "@trainyard/experiment-config";
import { assert, isMapping } from "@trainyard/kernel";
import type { Algorithm, Decision, Observation, StartFrom } from "../algorithm.ts";
import {
  applyToPopulation,
  DONE,
  emptyPopulation,
  type Member,
  type Population,
} from "../population/state.ts";
import type { RunningSearch } from "../state.ts";

export const schedule: Algorithm<Population> = {
  name: "schedule",
  version: 1,
  sizeOf: (config) => ({ trialsMax: scheduleOf(config).schedule.length, concurrentTrialsMax: 1 }),
  planned: (config) => ({ units: scheduleOf(config).schedule.at(-1)?.until ?? 0, trials: 1 }),
  // The state is that of a population of one, whose member is the segment in training.
  initial: () => emptyPopulation(1),
  apply: ({ memory, plan }, event, undo) => applyToPopulation(memory, event, plan, undo),
  takesCheckpoint: ({ members: [member] }, trial, step) => {
    return member?.trial === trial && (member.saved === null || step > member.saved.step);
  },
  on: (search, observation) => {
    if (observation.kind === "started") return [segment(search, 1)];
    if (observation.kind === "ended") return afterEnd(search, observation);
    const [member] = search.memory.members;
    return member === undefined ? [] : nextOf(search, member);
  },
};

function scheduleOf(config: SearcherConfig): ScheduleSearcher {
  assert(config.name === "schedule", "it is a schedule that is configured");
  return config;
}

/** Decides what follows the end of a trial's segment. */
function nextOf(search: RunningSearch, { trial, saved, score }: Member): readonly Decision[] {
  const segments = scheduleOf(search.plan.searcher).schedule;
  const { until = 0 } = segments[trial - 1] ?? {};
  if (trial >= segments.length) {
    if (score === null || score.time < until) return [];
    const evidence = { units: score.time, max_time: until };
    return [{ kind: "stop", trial, rule: DONE, evidence }];
  }
  if (saved === null || saved.time < until) return [];
  const evidence = { until, checkpoint_time: saved.time, segment: trial, of: segments.length };
  return [
    { kind: "stop", trial, rule: "segment_end", evidence },
    segment(search, trial + 1, { trial, at: saved }),
  ];
}

function afterEnd(
  { plan }: RunningSearch,
  { trial, outcome }: Extract<Observation, { kind: "ended" }>,
): readonly Decision[] {
  const { FAILED, INVALID_HYPERPARAMETERS } = TrialOutcome;
  if (outcome !== FAILED && outcome !== INVALID_HYPERPARAMETERS) return [];
  const evidence = { segment: trial, of: scheduleOf(plan.searcher).schedule.length };
  return [{ kind: "finish", rule: "segment_failed", evidence, fails: true }];
}

function segment(search: RunningSearch, number: number, startFrom?: StartFrom): Decision {
  const { schedule: segments } = scheduleOf(search.plan.searcher);
  const { hyperparameters, seed, until } = segments[number - 1] as ScheduleSegment;
  return {
    kind: "propose",
    hyperparameters: merged(constantsOf(search.plan.space), hyperparameters),
    origin: "schedule",
    evidence: { segment: number, of: segments.length, until },
    ...(startFrom === undefined ? {} : { startFrom }),
    ...(seed === null ? {} : { seed }),
  };
}

/** The constants of the space; a conditional one is included only if the segment gives it, too. */
function constantsOf(space: HyperparameterSpace): JsonObject {
  const constants: JsonObject = {};
  for (const [key, node] of Object.entries(space)) {
    if (!isTyped(node)) constants[key] = constantsOf(node);
    else if (node.type === "const" && node.when === undefined) constants[key] = node.val;
  }
  return constants;
}

/** Merges nested hyperparameters; other values of `over` replace those of `under`. */
function merged(under: JsonObject, over: JsonObject): JsonObject {
  const result: JsonObject = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = under[key];
    result[key] = isMapping(below) && isMapping(value) ? merged(below, value) : value;
  }
  return result;
}
