/**
 * The analyses of searches, computed from their events. Each answer is kept until its search has a new event, and the
 * searches are kept by bytes: those that were asked for last. A larger one is kept alone.
 */
import { decodeEvent, type Plain } from "@trainyard/contracts";
import type {
  GetBestSoFarResponse,
  GetImportanceResponse,
  GetParetoFrontResponse,
} from "@trainyard/contracts/api";
import type { StoredEvent } from "@trainyard/event-log";
import { trialId } from "@trainyard/kernel";
import {
  bestSoFar,
  importancesOf,
  paretoTrials,
  type SearchEvent,
  SearchRecord,
} from "@trainyard/search";

const analyses = {
  importance: shownImportance,
  front: (experiment: string, record: SearchRecord) => shownPareto(experiment, record, false),
  rated: (experiment: string, record: SearchRecord) => shownPareto(experiment, record, true),
  best: shownBest,
};

export type AnalysisName = keyof typeof analyses;
export type AnalysisOf<Name extends AnalysisName> = ReturnType<(typeof analyses)[Name]>;

export type AnalysisQuestion = {
  readonly experiment: string;
  /** The events of the search after a version, and that version; null to learn the version that is known. */
  readonly after: number | null;
  readonly events: readonly Pick<StoredEvent, "type" | "body" | "timeMs">[];
  /** The analysis to make if these are all events; null if more follow. */
  readonly name: AnalysisName | null;
};

export type AnalysisAnswer = {
  /** The version that is known now. If it does not follow from the question, the events were not taken. */
  readonly version: number;
  readonly analysis: AnalysisOf<AnalysisName> | null;
};

type Kept = {
  readonly record: SearchRecord;
  readonly made: Map<AnalysisName, AnalysisOf<AnalysisName>>;
  bytes: number;
};

/** The bytes of a record beside its texts. */
const bytesPerTrial = 200;

export class SearchAnalyses {
  readonly #bytesMax: number;
  /** The search that was asked for longest ago comes first. */
  readonly #kept = new Map<string, Kept>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  answer({ experiment, after, events, name }: AnalysisQuestion): AnalysisAnswer {
    const kept = this.#use(experiment);
    const { record } = kept;
    if (after !== record.version) return { version: record.version, analysis: null };
    for (const event of events) {
      // The cast is safe: a search's stream has only search events.
      const decoded = decodeEvent(event) as SearchEvent;
      record.add(decoded, event.timeMs);
      if (decoded.type === "TrialProposed") kept.bytes += bytesPerTrial + event.body.length;
    }
    if (events.length > 0) kept.made.clear();
    this.#forgetSome();
    return {
      version: record.version,
      analysis: name === null ? null : made(experiment, kept, name),
    };
  }

  #use(experiment: string): Kept {
    const kept = this.#kept.get(experiment) ?? {
      ...{ record: new SearchRecord(), made: new Map(), bytes: 0 },
    };
    this.#kept.delete(experiment);
    this.#kept.set(experiment, kept);
    return kept;
  }

  #forgetSome(): void {
    let bytes = [...this.#kept.values()].reduce((sum, kept) => sum + kept.bytes, 0);
    for (const [experiment, kept] of this.#kept) {
      if (bytes <= this.#bytesMax || this.#kept.size === 1) return;
      this.#kept.delete(experiment);
      bytes -= kept.bytes;
    }
  }
}

/** Returns an analysis, made only if the search has changed. The list of all trials is not kept: it is large. */
function made(experiment: string, kept: Kept, name: AnalysisName): AnalysisOf<AnalysisName> {
  const analysis = kept.made.get(name) ?? analyses[name](experiment, kept.record);
  if (name !== "rated") kept.made.set(name, analysis);
  return analysis;
}

function shownImportance(_experiment: string, record: SearchRecord): Plain<GetImportanceResponse> {
  const { trials, needed, top, items } = importancesOf(record);
  return { trials, trialsNeeded: needed, trialsBest: top, items: [...items] };
}

function shownBest(experiment: string, record: SearchRecord): Plain<GetBestSoFarResponse> {
  const { metric, smallerIsBetter } = record;
  const items = bestSoFar(record).map((best) => ({
    ...best,
    trial: trialId(experiment, best.trial),
  }));
  return { metric, smallerIsBetter, items, validations: record.observations };
}

function shownPareto(
  experiment: string,
  record: SearchRecord,
  all: boolean,
): Plain<GetParetoFrontResponse> {
  const { objectives, rated, front } = paretoTrials(record);
  const onFront = new Set(front);
  const items = (all ? rated : front).map((one) => ({
    trial: trialId(experiment, one.trial),
    values: [...one.values],
    onFront: onFront.has(one),
    hyperparameters: one.hyperparameters,
  }));
  return { objectives: [...objectives], trials: rated.length, items };
}
