/**
 * The decisions of successive halving after an observation, in this order: about the trial that has reached a rung;
 * about free room (the highest rung with a trial to promote, otherwise a new trial: `get_job` of Li et al., arXiv
 * 1810.05934, algorithm 2); about trials that wait in closed rungs, which no other trial can reach.
 *
 * Each decision is applied to the memory like its event, so that the next one depends on it; the caller undoes the
 * changes.
 */
import type { Decision, ProposedPoint } from "../algorithm.ts";
import { searchLimits } from "../limits.ts";
import { type Entry, entryAt, placeOf } from "../ranking.ts";
import type { UndoLog } from "../undo-log.ts";
import { hasRoom, mayCreate } from "./brackets.ts";
import { standing } from "./evidence.ts";
import { measure, probe, probeTo } from "./probes.ts";
import { isClosed, promotedCount, promotable } from "./rungs.ts";
import {
  type Halving,
  isTopRung,
  type Place,
  placeOfTrial,
  promote,
  propose,
  rungOf,
  stop,
  suspend,
  unitsOf,
  WORST,
} from "./state.ts";
import type { RuleName } from "../sentences.ts";

/** The reason of a promotion that only tests how well the first rung predicts the next one. */
export const PROBE = "probe";

export type Proposals = {
  /** Returns the point of a trial that is proposed in this state of the search. */
  readonly pointOf: (trial: number, halving: Halving) => ProposedPoint;
  /** The most proposals of one decision. */
  readonly most: number;
};

/** Collects the decisions of one observation. */
export class Turn {
  readonly decisions: Decision[] = [];
  readonly #halving: Halving;
  readonly #undo: UndoLog;
  #proposalsLeft: number;
  #stopsLeft: number = searchLimits.closingsPerDecisionMax;
  readonly #smallerIsBetter: boolean;
  readonly #proposals: Proposals;

  constructor(halving: Halving, smallerIsBetter: boolean, proposals: Proposals, undo: UndoLog) {
    this.#halving = halving;
    this.#undo = undo;
    this.#smallerIsBetter = smallerIsBetter;
    this.#proposals = proposals;
    this.#proposalsLeft = proposals.most;
  }

  /** Decides about a trial as long as it is due at a rung, since one report may pass several rungs. */
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

  /** Fills the free room and closes rungs, until neither makes a decision. */
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
    const kept = promotedCount(this.#halving, all.size, plan.form === "stop" || closed);
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

  /** Stops the trials of a closed rung that it will not promote. */
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

  /**
   * Returns the last waiting trial that the rung will not promote; a rung below the trusted first one promotes none.
   */
  #lastWaiting(bracket: number, rung: number): Entry | undefined {
    const { all, waiting } = rungOf(this.#halving, bracket, rung);
    const last = entryAt(waiting, waiting.size - 1);
    if (last === undefined || rung < this.#halving.trust.first) return last;
    const kept = promotedCount(this.#halving, all.size, true);
    return placeOf(all, last) < kept ? undefined : last;
  }

  #propose(): void {
    const trial = this.#halving.places.length + 1;
    const point = this.#proposals.pointOf(trial, this.#halving);
    this.decisions.push({ kind: "propose", ...point });
    this.#proposalsLeft -= 1;
    propose(this.#halving, undefined, this.#undo);
  }

  #promote(trial: number, rule: RuleName): void {
    const place = placeOfTrial(this.#halving, trial);
    const { bracket, rung } = place;
    const target = unitsOf(this.#halving, bracket, rung + 1);
    const evidence = standing(this.#halving, trial, place, this.#smallerIsBetter);
    this.decisions.push({ kind: "resume", trial, target, rung, rule, evidence });
    promote(this.#halving, trial, this.#undo);
    measure(this.#halving, trial, this.#undo);
  }

  #probe(trial: number): void {
    const place = placeOfTrial(this.#halving, trial);
    const { bracket, rung } = place;
    const target = unitsOf(this.#halving, bracket, probeTo(this.#halving, trial, rung) ?? rung);
    const evidence = standing(this.#halving, trial, place, this.#smallerIsBetter);
    this.decisions.push({ kind: "resume", trial, target, rung, rule: PROBE, evidence });
    probe(this.#halving, trial, this.#undo);
    measure(this.#halving, trial, this.#undo);
  }

  #suspend(trial: number): void {
    const place = placeOfTrial(this.#halving, trial);
    const evidence = standing(this.#halving, trial, place, this.#smallerIsBetter);
    const { rung } = place;
    this.decisions.push({ kind: "suspend", trial, rung, rule: "halving", evidence });
    suspend(this.#halving, trial, this.#undo);
  }

  #stop(trial: number, rule: RuleName): void {
    const place = placeOfTrial(this.#halving, trial);
    const evidence = standing(this.#halving, trial, place, this.#smallerIsBetter);
    this.decisions.push({ kind: "stop", trial, rule, evidence });
    stop(this.#halving, trial, this.#undo);
  }
}
