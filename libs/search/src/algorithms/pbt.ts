/**
 * Population-based training (Jaderberg et al., 2017). A population of trials trains side by side. Once a member is past
 * `burn_in` and has trained for `interval` since its last comparison, its latest score is compared with those of the
 * others (`exploit.ts`).
 *
 * The member either continues (TrialResumed) or copies a better one: its trial is stopped (TrialStopDecided), and a new
 * trial continues from the donor's checkpoint (TrialProposed) with hyperparameters near the donor's (`explore.ts`). The
 * copy is compared again an interval after its checkpoint, so it is judged by training of its own.
 *
 * A member that failed, or whose hyperparameters were invalid, is replaced by a copy of a good one. While no member can
 * be copied and none has ended, a random trial replaces it, at most as often as the population has members. A trial
 * that a policy or a user stops leaves the population smaller. The population and the number of trials never exceed the
 * configuration; after the last trial, members continue unchanged.
 *
 * If fewer members may train at a time than exist, they take turns: a member that was compared and continues is
 * suspended, and the member with the least training continues from its checkpoint.
 *
 * The result is a schedule: the hyperparameters of each time along the line of the best trial (`lineage.ts`).
 */
import type { JsonObject, PbtSearcher, SearcherConfig } from "@trainyard/experiment-config";
import { assert } from "@trainyard/kernel";
import type { Algorithm, Decision } from "../algorithm.ts";
import { searchLimits } from "../limits.ts";
import { pointOfTrial } from "../space/points.ts";
import { trialsAllowed } from "../early-stopping/policy-decisions.ts";
import { compared, type Donor, replacementDonor } from "../population/exploit.ts";
import { explored } from "../population/explore.ts";
import {
  DONE,
  EXPLOITED,
  emptyPopulation,
  applyToPopulation,
  type Member,
  memberOf,
  type Population,
} from "../population/state.ts";
import { comparisonEvidence, copyEvidence } from "../population/evidence.ts";
import { proposedTrials, type RunningSearch, type SearchPlan } from "../state.ts";
import type { RuleName } from "../sentences.ts";

export const pbt: Algorithm<Population> = {
  name: "pbt",
  version: 1,
  // There is no limit of concurrent trials: a stopped trial may still be ending when another has taken its place.
  sizeOf: (config) => ({ trialsMax: pbtOf(config).max_trials, concurrentTrialsMax: 0 }),
  // Members copy each other and continue at the donor's time: the training is one full training per member.
  planned: (config) => ({ units: pbtOf(config).max_time, trials: pbtOf(config).population_size }),
  initial: ({ searcher }) => emptyPopulation(pbtOf(searcher).population_size),
  apply: ({ memory, plan }, event, undo) => applyToPopulation(memory, event, plan, undo),
  takesCheckpoint: (population, trial, step) => {
    const member = memberOf(population, trial);
    return member !== undefined && (member.saved === null || step > member.saved.step);
  },
  on: (search, observation) => {
    const turn = new PbtTurn(search);
    if (observation.kind === "validated") turn.report(observation.trial, observation.value);
    turn.fill();
    return turn.decisions;
  },
};

function pbtOf(config: SearcherConfig): PbtSearcher {
  assert(config.name === "pbt", "it is a population that is configured");
  return config;
}

/** Collects the decisions of one observation. */
class PbtTurn {
  readonly decisions: Decision[] = [];
  readonly #plan: SearchPlan;
  readonly #config: PbtSearcher;
  readonly #population: Population;
  /** The number of the next trial to propose. */
  #next: number;
  /** The highest number that a trial may have, which a budget may lower. */
  readonly #last: number;
  /** The number of members that train, including the decisions so far. */
  #training: number;

  constructor(search: RunningSearch<Population>) {
    this.#plan = search.plan;
    this.#config = pbtOf(search.plan.searcher);
    this.#population = search.memory;
    this.#next = proposedTrials(search) + 1;
    this.#last = search.finishing ? 0 : (trialsAllowed(search) ?? search.plan.trialsMax);
    this.#training = this.#population.members.filter(({ waiting }) => !waiting).length;
  }

  /**
   * Handles the report of a member. A suspended member may report until its run has ended; it is compared when it
   * trains again.
   */
  report(trial: number, value: number | null): void {
    const member = memberOf(this.#population, trial);
    if (member === undefined || member.score === null || value === null) return;
    const { time } = member.score;
    const { max_time, burn_in, interval } = this.#config;
    if (time >= max_time) this.#stop(member, DONE, { units: time, max_time });
    else if (!member.waiting && time >= burn_in && time - member.comparedAt >= interval)
      this.#compare(member);
  }

  #compare(member: Member): void {
    const { trial } = member;
    const chance = { seed: this.#plan.seed, copy: this.#next };
    const comparison = compared(this.#population, member, this.#config, chance);
    const { verdict } = comparison;
    if (verdict.kind === "waits") return;
    const evidence = comparisonEvidence(comparison, member, this.#config, this.#plan);
    if (verdict.kind === "copies" && this.#hasTrials()) {
      this.#stop(member, EXPLOITED, evidence(this.#next));
      this.#propose(this.#copyOf(verdict.donor, trial));
      return;
    }
    const rule = verdict.kind === "copies" ? "pbt_last_trial" : "pbt_good_enough";
    if (this.#hasRoom()) this.#resume(member, rule, evidence(null));
    else this.#giveUpPlace(member, rule, evidence(null));
  }

  /** Suspends the member if another one takes its place; otherwise the member continues. */
  #giveUpPlace(member: Member, rule: RuleName, evidence: JsonObject): void {
    this.#training -= 1;
    const before = this.decisions.length;
    this.fill();
    if (this.decisions.length === before) {
      this.#training += 1;
      this.#resume(member, rule, evidence);
    } else {
      const { trial } = member;
      this.decisions.splice(before, 0, { kind: "suspend", trial, rung: 0, rule, evidence });
    }
  }

  /**
   * Fills free places: with trials for vacant members, and with waiting members, those with the least training first.
   */
  fill(): void {
    const most = Math.min(this.#population.vacant, proposalsAtOnce(this.#plan));
    let { drawn } = this.#population;
    for (let n = 0; n < most && this.#hasTrials() && this.#hasRoom(); n += 1) {
      const point = this.#filling(drawn);
      if (point === null) break;
      if (point.startFrom === undefined) drawn += 1;
      this.#propose(point);
    }
    const waiting = this.#population.members
      .filter((member) => member.waiting)
      .sort((a, b) => timeOf(a) - timeOf(b) || a.trial - b.trial);
    for (const member of waiting) {
      if (!this.#hasRoom()) return;
      this.#training += 1;
      this.#resume(member, "pbt_turn", { time: timeOf(member), waiting: waiting.length });
    }
  }

  #filling(drawn: number): Proposal | null {
    const size = this.#config.population_size;
    const { finished } = this.#population;
    if (drawn >= size) {
      const donor = replacementDonor(this.#population, this.#config, this.#plan.seed, this.#next);
      if (donor !== null) return this.#copyOf(donor, null);
      if (finished || drawn >= 2 * size) return null;
    }
    return { kind: "propose", ...pointOfTrial(this.#plan, this.#next) };
  }

  #copyOf(donor: Donor, replaces: number | null): Proposal {
    const found = explored(this.#plan, this.#config, donor.hyperparameters, this.#next);
    return {
      kind: "propose",
      hyperparameters: found.hyperparameters,
      startFrom: { trial: donor.trial, at: donor.saved },
      origin: "explored",
      evidence: copyEvidence(donor, found.changes, replaces),
    };
  }

  #propose(proposal: Proposal): void {
    this.decisions.push(proposal);
    this.#next += 1;
    this.#training += 1;
  }

  #stop({ trial, waiting }: Member, rule: RuleName, evidence: JsonObject): void {
    this.decisions.push({ kind: "stop", trial, rule, evidence });
    if (!waiting) this.#training -= 1;
  }

  #resume(member: Member, rule: RuleName, evidence: JsonObject): void {
    const { trial } = member;
    const target = Math.min(this.#config.max_time, timeOf(member) + this.#config.interval);
    this.decisions.push({ kind: "resume", trial, target, rung: 0, rule, evidence });
  }

  #hasRoom(): boolean {
    const most = this.#config.max_concurrent_trials;
    return most === 0 || this.#training < most;
  }

  #hasTrials(): boolean {
    return this.#next <= Math.min(this.#last, this.#plan.trialsMax);
  }
}

function timeOf({ score, startedAt }: Member): number {
  return score?.time ?? startedAt;
}

type Proposal = Extract<Decision, { kind: "propose" }>;

function proposalsAtOnce({ spaceBytes }: SearchPlan): number {
  const bytesAllow = Math.floor(searchLimits.proposalBytesPerDecisionMax / spaceBytes);
  return Math.max(1, Math.min(searchLimits.proposalsPerDecisionMax, bytesAllow));
}
