import type { AnyEvent, EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { trialId } from "@trainyard/kernel";
import type { Report } from "../invariants.ts";
import type { ExperimentRules } from "./experiments.ts";
import type { TrialRules } from "./trials.ts";

type SearchFacts = {
  readonly proposals: EventData<"TrialProposed">[];
  /** The trials that have ended, as far as the search knows. */
  readonly outcomes: Set<number>;
  /** The unended trials that the search has stopped or suspended. */
  readonly resting: Set<number>;
  /** The trials that the search fails because of their reports. */
  readonly failed: Set<number>;
  readonly observed: Set<string>;
  readonly times: Set<string>;
  completed: boolean;
  continuations: number;
};

/**
 * The rule of searches: a search numbers its trials without gaps, has no more at a time than allowed, and counts each
 * valid report once.
 */
export class SearchRules {
  readonly #experiments: ExperimentRules;
  readonly #facts = new Map<string, SearchFacts>();

  constructor(experiments: ExperimentRules) {
    this.#experiments = experiments;
  }

  #of(id: string): SearchFacts {
    const known = this.#facts.get(id);
    if (known !== undefined) return known;
    const facts: SearchFacts = {
      proposals: [],
      outcomes: new Set(),
      resting: new Set(),
      failed: new Set(),
      observed: new Set(),
      times: new Set(),
      completed: false,
      continuations: 0,
    };
    this.#facts.set(id, facts);
    return facts;
  }

  /** True if the search has completed since this continuation. */
  isCompleted(id: string, continuations: number): boolean {
    const facts = this.#of(id);
    return facts.completed && facts.continuations === continuations;
  }

  proposedOf(id: string): number {
    return this.#of(id).proposals.length;
  }

  proposal(id: string, number: number): EventData<"TrialProposed"> | undefined {
    return this.#of(id).proposals[number - 1];
  }

  see(id: string, event: AnyEvent, report: Report, trials: TrialRules): void {
    const facts = this.#of(id);
    if (event.type === "SearchContinued") return continued(id, facts, event.data, report, trials);
    if (facts.completed) report("the search was complete");
    switch (event.type) {
      case "TrialProposed":
        this.#propose(id, facts, event.data, report);
        break;
      case "ObservationRecorded":
        observe(id, facts, event.data, report, trials);
        break;
      case "TrialOutcomeRecorded":
        if (facts.outcomes.has(event.data.trial)) report("its outcome was recorded before");
        facts.outcomes.add(event.data.trial);
        facts.resting.delete(event.data.trial);
        endedSo(id, facts, event.data, report, trials);
        break;
      case "TrialSuspended":
      case "TrialStopDecided":
        if (event.type === "TrialStopDecided" && event.data.fails === true) {
          facts.failed.add(event.data.trial);
        }
        if (facts.outcomes.has(event.data.trial)) report("its outcome was recorded before");
        facts.resting.add(event.data.trial);
        break;
      case "TrialResumed":
        if (facts.outcomes.has(event.data.trial)) report("its outcome was recorded before");
        facts.resting.delete(event.data.trial);
        this.#watchConcurrency(id, facts, report);
        break;
      case "SearchCompleted":
        facts.completed = true;
        break;
      default:
    }
  }

  #propose(id: string, facts: SearchFacts, data: EventData<"TrialProposed">, report: Report): void {
    if (data.number !== facts.proposals.length + 1) report(`number ${data.number} is out of turn`);
    facts.proposals.push(data);
    if (data.waits === true) facts.resting.add(data.number);
    this.#watchConcurrency(id, facts, report);
  }

  #watchConcurrency(id: string, facts: SearchFacts, report: Report): void {
    const running = facts.proposals.length - facts.outcomes.size - facts.resting.size;
    if (running > this.#experiments.of(id).maxConcurrent) report(`${running} trials at a time`);
  }

  /** Valid reports of trials whose end the search has processed, but which the search never got. */
  missedMeasurements(trials: TrialRules): readonly string[] {
    return trials.countedMeasurements().flatMap(({ id, experiment, number }) => {
      const { observed, outcomes } = this.#of(experiment);
      if (!outcomes.has(number) || observed.has(id)) return [];
      return [`the search ${experiment} never saw the report ${id} of trial ${number}`];
    });
  }
}

/** A continued search resumes trials that did not finish their training; others count as over. */
function continued(
  id: string,
  facts: SearchFacts,
  data: EventData<"SearchContinued">,
  report: Report,
  trials: TrialRules,
): void {
  if (data.continuation <= facts.continuations) report("it was continued so before");
  facts.continuations = data.continuation;
  if (facts.completed) {
    trials.excuseMeasurements(id);
    for (let number = 1; number <= facts.proposals.length; number += 1) facts.outcomes.add(number);
  }
  for (const number of data.trials) {
    if (number > facts.proposals.length) report(`trial ${number} was never proposed`);
    if (trials.outcomeOf(trialId(id, number)) === TrialOutcome.INVALID_HYPERPARAMETERS) {
      report(`trial ${number} cannot be trained`);
    }
    facts.outcomes.delete(number);
    facts.resting.delete(number);
    facts.failed.delete(number);
  }
  facts.completed = false;
}

/** A trial that the search fails may have finished before it got the decision. */
function endedSo(
  id: string,
  facts: SearchFacts,
  { trial, outcome }: EventData<"TrialOutcomeRecorded">,
  report: Report,
  trials: TrialRules,
): void {
  const told = trials.outcomeOf(trialId(id, trial));
  const failed = facts.failed.has(trial) && told === TrialOutcome.COMPLETED;
  if ((failed ? TrialOutcome.FAILED : told) !== outcome) report("the trial did not end so");
}

function observe(
  id: string,
  facts: SearchFacts,
  { trial, time, run, measurement, repeat, missing }: EventData<"ObservationRecorded">,
  report: Report,
  trials: TrialRules,
): void {
  if (facts.observed.has(measurement)) report(`the report ${measurement} was weighed before`);
  facts.observed.add(measurement);
  const at = `${trial}@${time}`;
  if (missing === undefined && facts.times.has(at) !== repeat)
    report(`repeat is ${repeat}, which is wrong`);
  if (missing === undefined) facts.times.add(at);
  const current = trials.currentRunAt(measurement);
  if (current !== run) report(`run ${run} counts, but run ${current} was the newest`);
  if (!trials.has(trialId(id, trial))) report("there is no such trial");
}
