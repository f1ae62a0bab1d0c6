/**
 * What successive halving decides at one observation: first what becomes of the trial that has come to a rung, then who
 * gets the room that there is (the highest rung that has somebody to promote, else a new trial: `get_job` of Li et al.,
 * arXiv 1810.05934, algorithm 2), then the end of those who wait in rungs to which nobody comes any more. Each decision
 * is applied to the memory as its event will be, so that the next one rests on it.
 */
import type { Decision, ProposedPoint } from "../algorithm.ts";
import { searchLimits } from "../limits.ts";
import { type Entry, entryAt, placeOf } from "../persistent/ranking.ts";
import { standing } from "./evidence.ts";
import {
  type Halving,
  hasRoom,
  isTopRung,
  mayCreate,
  type Place,
  placeOfTrial,
  promoted,
  proposed,
  rungOf,
  stopped,
  suspended,
  unitsOf,
  WORST,
} from "./memory.ts";
import { probeTo, probing, told } from "./rise.ts";
import { isClosed, keptOf, promotable } from "./rungs.ts";

/** The rule by which a trial goes on to tell what the first rung is worth, and not for its value. */
export const PROBE = "probe";

export type Proposals = {
  /** The point of a trial that is proposed with the search as it is then. */
  readonly pointOf: (trial: number, halving: Halving) => ProposedPoint;
  /** How many one decision may make. */
  readonly most: number;
};

/** What a decision's event makes of the memory. */
export type Step = {
  readonly before: Halving;
  readonly type: "TrialProposed" | "TrialSuspended" | "TrialResumed" | "TrialStopDecided";
  readonly trial: number;
  readonly after: Halving;
};

export class Turn {
  readonly decisions: Decision[] = [];
  /** One for each decision. */
  readonly steps: Step[] = [];
  #halving: Halving;
  #proposalsLeft: number;
  #stopsLeft: number = searchLimits.closingsPerDecisionMax;
  readonly #smallerIsBetter: boolean;
  readonly #proposals: Proposals;

  constructor(halving: Halving, smallerIsBetter: boolean, proposals: Proposals) {
    this.#halving = halving;
    this.#smallerIsBetter = smallerIsBetter;
    this.#proposals = proposals;
    this.#proposalsLeft = proposals.most;
  }

  /** Decides about a trial for as long as it is due at a rung: one report may take it through several. */
  settle(trial: number): void {
    for (;;) {
      const place = placeOfTrial(this.#halving, trial);
      if (place.state !== "due") return;
      if (isTopRung(this.#halving, place)) this.#stop(trial, "max_time");
      else if (place.value === WORST) this.#stop(trial, "not_finite");
      else if (this.#goesOn(trial, place)) this.#promote(trial, "halving");
      else if (this.#isBestOfAll(trial, place)) this.#promote(trial, "best_so_far");
      else if (this.#isAsked(trial, place)) this.#probe(trial);
      else if (this.#halving.plan.form === "stop") this.#stop(trial, "halving");
      else this.#suspend(trial);
    }
  }

  /** Fills the room that there is and closes rungs, until neither changes anything. */
  fill(): void {
    for (let before = -1; before < this.decisions.length; ) {
      before = this.decisions.length;
      const { length: brackets } = this.#halving.brackets;
      for (let bracket = 0; bracket < brackets; bracket += 1) this.#fillBracket(bracket);
      for (let bracket = 0; bracket < brackets; bracket += 1) this.#closeRungs(bracket);
    }
  }

  #goesOn(trial: number, { bracket, rung, brought }: Place): boolean {
    const { plan } = this.#halving;
    const own = brought[rung] ?? { value: WORST, order: 0, trial };
    const { all } = rungOf(this.#halving, bracket, rung);
    const closed = isClosed(this.#halving, bracket, rung);
    if (plan.form === "wait" && !closed) return false;
    const kept = keptOf(this.#halving, all.size, plan.form === "stop" || closed);
    return placeOf(all, own) < kept;
  }

  #isBestOfAll(trial: number, { rung, brought }: Place): boolean {
    const { best, trust } = this.#halving;
    return rung > trust.first && best?.trial === trial && best.value === brought[rung]?.value;
  }

  #isAsked(trial: number, { rung }: Place): boolean {
    return probeTo(this.#halving, trial, rung) !== undefined;
  }

  #fillBracket(bracket: number): void {
    while (hasRoom(this.#halving, bracket)) {
      const probe = this.#halving.trust.owed[0];
      const trial = probe ?? this.#bestToPromote(bracket);
      if (trial !== undefined) {
        if (probe === undefined) this.#promote(trial, "halving");
        else this.#probe(trial);
        this.settle(trial);
      } else if (mayCreate(this.#halving, bracket) && this.#proposalsLeft > 0) {
        this.#propose();
      } else {
        return;
      }
    }
  }

  #bestToPromote(bracket: number): number | undefined {
    const { first } = this.#halving.trust;
    for (let rung = (this.#rungs(bracket).length || 1) - 2; rung >= first; rung -= 1) {
      const trial = promotable(this.#halving, bracket, rung);
      if (trial !== undefined) return trial;
    }
    return undefined;
  }

  #rungs(bracket: number) {
    return this.#halving.brackets[bracket]?.rungs ?? [];
  }

  /** Who waits in a closed rung behind those that it lets through has no more to wait for. */
  #closeRungs(bracket: number): void {
    const { first } = this.#halving.trust;
    const { length: rungs } = this.#rungs(bracket);
    for (let rung = 0; rung < rungs; rung += 1) {
      const passed = rung < first;
      if (!passed && !isClosed(this.#halving, bracket, rung)) return;
      while (this.#stopsLeft > 0) {
        const last = this.#lastWaiting(bracket, rung);
        if (last === undefined) break;
        this.#stop(last.trial, passed ? "rung_not_trusted" : "rung_closed");
        this.#stopsLeft -= 1;
      }
    }
  }

  /** Behind those that the rung lets through, which are none of a rung that cannot be trusted. */
  #lastWaiting(bracket: number, rung: number): Entry | undefined {
    const { all, waiting } = rungOf(this.#halving, bracket, rung);
    const last = entryAt(waiting, waiting.size - 1);
    if (last === undefined || rung < this.#halving.trust.first) return last;
    const kept = keptOf(this.#halving, all.size, true);
    return placeOf(all, last) < kept ? undefined : last;
  }

  #propose(): void {
    const trial = this.#halving.places.size + 1;
    const point = this.#proposals.pointOf(trial, this.#halving);
    this.decisions.push({ kind: "propose", ...point });
    this.#proposalsLeft -= 1;
    this.#go("TrialProposed", trial, proposed(this.#halving));
  }

  #promote(trial: number, rule: string): void {
    const place = placeOfTrial(this.#halving, trial);
    const { bracket, rung } = place;
    const target = unitsOf(this.#halving, bracket, rung + 1);
    const evidence = standing(this.#halving, trial, place, this.#smallerIsBetter);
    this.decisions.push({ kind: "resume", trial, target, rung, rule, evidence });
    this.#go("TrialResumed", trial, told(promoted(this.#halving, trial), trial));
  }

  #probe(trial: number): void {
    const place = placeOfTrial(this.#halving, trial);
    const { bracket, rung } = place;
    const target = unitsOf(this.#halving, bracket, probeTo(this.#halving, trial, rung) ?? rung);
    const evidence = standing(this.#halving, trial, place, this.#smallerIsBetter);
    this.decisions.push({ kind: "resume", trial, target, rung, rule: PROBE, evidence });
    this.#go("TrialResumed", trial, told(probing(this.#halving, trial), trial));
  }

  #suspend(trial: number): void {
    const place = placeOfTrial(this.#halving, trial);
    const evidence = standing(this.#halving, trial, place, this.#smallerIsBetter);
    const { rung } = place;
    this.decisions.push({ kind: "suspend", trial, rung, rule: "halving", evidence });
    this.#go("TrialSuspended", trial, suspended(this.#halving, trial));
  }

  #stop(trial: number, rule: string): void {
    const place = placeOfTrial(this.#halving, trial);
    const evidence = standing(this.#halving, trial, place, this.#smallerIsBetter);
    this.decisions.push({ kind: "stop", trial, rule, evidence });
    this.#go("TrialStopDecided", trial, stopped(this.#halving, trial));
  }

  #go(type: Step["type"], trial: number, after: Halving): void {
    this.steps.push({ before: this.#halving, type, trial, after });
    this.#halving = after;
  }
}
