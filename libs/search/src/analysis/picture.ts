/**
 * The picture of a search at a version of its stream: rungs, the path of each trial through them, and the decisions
 * with their evidence.
 *
 * The search's own machine folds the events, so ranks and cutoffs are the ones that decide. The record adds only the
 * moments of the events. A picture covers a range of trial numbers, so that its size is independent of the search's
 * size.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { JsonObject } from "@trainyard/experiment-config";
import type { SearchEvent } from "../events.ts";
import { passageOf, shownValue } from "../halving/evidence.ts";
import type { HalvingForm } from "../halving/plan.ts";
import { type Halving, isHalving, type Place, rungOf } from "../halving/state.ts";
import { searchLimits } from "../limits.ts";
import { SearchMachine } from "../machine.ts";
import { entryAt, placeOf } from "../ranking.ts";
import { decisionWords } from "../sentences.ts";
import type { TrialState } from "../state.ts";
import { SearchRecord } from "./record.ts";

/** The moment of an event: the search's version, milliseconds since 1970, and the training of all trials so far. */
export type Moment = { readonly version: number; readonly atMs: number; readonly units: number };

export type PicturedDecision = Moment & {
  /** The type of the recording event, like TrialSuspended. */
  readonly event: string;
  /** The words for the decision, from `decisionWords`. */
  readonly verb: string;
  readonly sentence: string;
  /** The rule of the decision; empty for a copy, which has an origin instead. */
  readonly rule: string;
  readonly evidence: JsonObject;
};

/** A trial's entry in a rung of its bracket, at the picture's version. */
export type RungReport = Moment & {
  readonly rung: number;
  /** The trial's own time at its arrival. */
  readonly time: number;
  /** The reported value; null if it was not finite, or if the trial ended before the rung. */
  readonly value: number | null;
  /** The rank of the trial at the rung, from 1. */
  readonly rank: number;
};

export type PicturedTrial = {
  readonly trial: number;
  readonly proposed: Moment;
  readonly origin: string;
  /** The trial from which it continues, and that trial's time then; null for none. */
  readonly from: { readonly trial: number; readonly time: number } | null;
  /** The trial's state: running, suspended, stopping, completed, stopped_early, canceled, failed or invalid. */
  readonly state: string;
  /** The time of the trial's last report and its best finite value; null before there is one. */
  readonly time: number;
  readonly best: number | null;
  /** The trial's bracket and rung; null in a search without rungs. */
  readonly place: { readonly bracket: number; readonly rung: number } | null;
  readonly reports: readonly RungReport[];
  /** The decisions in order; of very many, the latest. */
  readonly decisions: readonly PicturedDecision[];
  readonly decisionsLeftOut: number;
};

export type PicturedRung = {
  readonly units: number;
  readonly trials: number;
  /** The number of trials that the rung promotes, and the value of the last of these; null for none: the top rung. */
  readonly kept: number;
  readonly cutoff: number | null;
};

export type SearchPicture = Moment & {
  readonly algorithm: string;
  readonly metric: string;
  readonly smallerIsBetter: boolean;
  readonly timeMetric: string;
  readonly phase: "unknown" | "running" | "completed";
  /** The form of halving; null in a search without rungs. */
  readonly form: HalvingForm | null;
  readonly brackets: readonly { readonly rungs: readonly PicturedRung[] }[];
  /** The number of all proposed trials, not only of those in the range. */
  readonly trialsProposed: number;
  readonly trials: readonly PicturedTrial[];
  /** The decisions about the search itself. */
  readonly decisions: readonly PicturedDecision[];
};

type Kept = {
  readonly proposed: Moment;
  readonly origin: string;
  readonly from: PicturedTrial["from"];
  /** The arrival of the trial at each rung, by the rung's index. */
  readonly arrivals: (Moment & { readonly time: number })[];
  readonly decisions: PicturedDecision[];
  leftOut: number;
};

const outcomes: Readonly<Record<TrialOutcome, string>> = {
  [TrialOutcome.UNSPECIFIED]: "",
  [TrialOutcome.COMPLETED]: "completed",
  [TrialOutcome.STOPPED_EARLY]: "stopped_early",
  [TrialOutcome.CANCELED]: "canceled",
  [TrialOutcome.FAILED]: "failed",
  [TrialOutcome.INVALID_HYPERPARAMETERS]: "invalid",
};

/** Folds the events of a search, taken in order, into a picture. */
export class PictureRecord {
  readonly #machine = new SearchMachine();
  readonly #record = new SearchRecord();
  readonly #from: number;
  readonly #to: number;
  readonly #kept: Kept[] = [];
  readonly #decisions: PicturedDecision[] = [];
  #now: Moment = { version: 0, atMs: 0, units: 0 };
  #firstRung = 0;

  /** Covers the trials with numbers from `from` to `to`, both inclusive. */
  constructor(from: number, to: number) {
    this.#from = from;
    this.#to = to;
  }

  /** The number of events taken, which is the stream's version. */
  get version(): number {
    return this.#machine.version;
  }

  add(event: SearchEvent, atMs: number): void {
    this.#machine.apply(event);
    this.#machine.keep();
    this.#record.add(event, atMs);
    this.#now = { version: this.version, atMs, units: this.#record.units };
    if (event.type === "TrialProposed") this.#propose(event.data);
    this.#decide(event);
    this.#noteArrivals(event);
  }

  #keptOf(trial: number): Kept | undefined {
    return this.#kept[trial - this.#from];
  }

  #propose(data: Extract<SearchEvent, { type: "TrialProposed" }>["data"]): void {
    const { number, origin, startFromTrial: trial, startFromTime: time = 0 } = data;
    if (number < this.#from || number > this.#to) return;
    this.#kept[number - this.#from] = {
      proposed: this.#now,
      origin,
      from: trial === undefined ? null : { trial, time },
      arrivals: [],
      decisions: [],
      leftOut: 0,
    };
  }

  #decide(event: SearchEvent): void {
    const words = decisionWords(event.type, event.data);
    if (words === undefined) return;
    const { rule = "", evidence = {} } = event.data as { rule?: string; evidence?: JsonObject };
    const decision = { ...this.#now, event: event.type, ...words, rule, evidence };
    const trial = trialNumberOf(event);
    if (trial === undefined) this.#decisions.push(decision);
    else {
      const kept = this.#keptOf(trial);
      if (kept === undefined) return;
      kept.decisions.push(decision);
      if (kept.decisions.length <= searchLimits.picturedDecisionsMax) return;
      kept.decisions.shift();
      kept.leftOut += 1;
    }
  }

  /** Notes a trial's arrivals. An event brings only its own trial to a rung, unless the first rung rises. */
  #noteArrivals(event: SearchEvent): void {
    const { memory } = this.#machine.state;
    if (!isHalving(memory)) return;
    const rises = memory.trust.first !== this.#firstRung;
    this.#firstRung = memory.trust.first;
    const own = trialNumberOf(event);
    const moved = rises ? this.#kept.map((_, index) => this.#from + index) : [own ?? 0];
    for (const trial of moved) {
      const place = memory.places[trial - 1];
      const kept = this.#keptOf(trial);
      if (place === undefined || kept === undefined) continue;
      while (kept.arrivals.length < place.brought.length) {
        kept.arrivals.push({ ...this.#now, time: place.time });
      }
    }
  }

  picture(): SearchPicture {
    const { plan, phase, memory, trials } = this.#machine.state;
    const smallerIsBetter = plan?.smallerIsBetter ?? true;
    const halving = isHalving(memory) ? memory : null;
    return {
      ...this.#now,
      algorithm: plan?.algorithm ?? "",
      metric: plan?.metric ?? "",
      smallerIsBetter,
      timeMetric: plan?.timeMetric ?? "",
      phase,
      form: halving?.plan.form ?? null,
      brackets: this.#brackets(smallerIsBetter),
      trialsProposed: trials.length,
      trials: this.#kept.map((kept, index) => {
        const trial = this.#from + index;
        const place = halving?.places[trial - 1];
        const { arrivals, decisions, leftOut, ...proposal } = kept;
        return {
          trial,
          ...proposal,
          state: stateOf(trials[trial - 1]),
          time: this.#record.trials[trial - 1]?.time ?? 0,
          best: this.#record.trials[trial - 1]?.best ?? null,
          place: place === undefined ? null : { bracket: place.bracket, rung: place.rung },
          reports:
            halving === null || place === undefined
              ? []
              : reportsOf(halving, trial, place, arrivals, smallerIsBetter),
          decisions: [...decisions],
          decisionsLeftOut: leftOut,
        };
      }),
      decisions: [...this.#decisions],
    };
  }

  #brackets(smallerIsBetter: boolean): SearchPicture["brackets"] {
    const { memory } = this.#machine.state;
    if (!isHalving(memory)) return [];
    return memory.brackets.map(({ rungs }, bracket) => ({
      rungs: rungs.map(({ all }, rung) => ({
        units: memory.plan.brackets[bracket]?.units[rung] ?? 0,
        trials: all.size,
        ...(rung === rungs.length - 1
          ? { kept: 0, cutoff: null }
          : passageOf(memory, bracket, rung, smallerIsBetter)),
      })),
    }));
  }
}

/** Returns the trial's entries in rungs; a rung that the trial skipped, or was removed from, has none. */
function reportsOf(
  halving: Halving,
  trial: number,
  { bracket, brought }: Place,
  arrivals: Kept["arrivals"],
  smallerIsBetter: boolean,
): readonly RungReport[] {
  return brought.flatMap((entry, rung) => {
    const { all } = rungOf(halving, bracket, rung);
    const place = placeOf(all, entry);
    const arrival = arrivals[rung];
    if (arrival === undefined || entryAt(all, place)?.trial !== trial) return [];
    const value = shownValue(entry.value, smallerIsBetter);
    return [{ ...arrival, rung, value, rank: place + 1 }];
  });
}

function trialNumberOf({ type, data }: SearchEvent): number | undefined {
  if (type === "TrialProposed") return data.number;
  return "trial" in data ? data.trial : undefined;
}

function stateOf(trial: TrialState | undefined): string {
  if (trial === undefined) return "";
  if (trial.outcome !== TrialOutcome.UNSPECIFIED) return outcomes[trial.outcome] ?? "";
  if (trial.wanted === "run") return "running";
  return trial.wanted === "suspended" ? "suspended" : "stopping";
}
