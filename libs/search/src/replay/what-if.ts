/**
 * Replays a recorded search with another searcher: its n-th trial is the n-th recorded trial, with the recorded
 * hyperparameters and reports. While the other searcher suspends a trial, the trial's reports wait; after a stop they
 * are dropped. The outcome of unrecorded training is unknown (a trial beyond the last, or beyond the time at which the
 * trial was stopped): such a trial ends as canceled.
 */
import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import type { JsonObject } from "@trainyard/experiment-config";
import { assert, isRejection } from "@trainyard/kernel";
import { bestShown } from "../best.ts";
import type { SearchCommand, SearchedConfig } from "../commands.ts";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";
import { type Best, type SearchState, trialOf } from "../state.ts";
import { suggestionOf } from "../suggestions.ts";
import { recordedCommand } from "./recorded.ts";

/** The outcome of a trial: `units` is the time of its last report, 0 without reports. */
export type Fate = {
  readonly units: number;
  /** One of completed, stopped, suspended, failed, canceled, invalid, running, unknown and "not proposed". */
  readonly end: string;
  /** The rule of a stop or a suspension. */
  readonly rule: string;
};

export type WhatIf = {
  readonly trials: readonly {
    readonly trial: number;
    readonly recorded: Fate;
    readonly other: Fate;
  }[];
  /** The total training of all trials, in the search's units of time (such as batches). */
  readonly units: { readonly recorded: number; readonly other: number };
  readonly best: { readonly recorded: Best | null; readonly other: Best | null };
  /** The number of trials that the other searcher proposed beyond the recorded ones. */
  readonly beyond: number;
  /** The reason why the other search completed; null if it did not complete by the end of the record. */
  readonly completion: string | null;
};

type Report = Extract<SearchCommand, { type: "RecordValidation" | "RecordOutcome" }>;

/** The recorded reports of one trial, and the number of them that the other search has received. */
type Recorded = {
  readonly hyperparameters: JsonObject;
  readonly reports: Report[];
  heard: number;
};

/** Replays the recorded events of a search, one by one, with a search of `config`. */
export function replayWith(
  events: readonly SearchEvent[],
  config: SearchedConfig,
  seed: number,
): WhatIf {
  const other = new OtherSearch();
  const recorded = SearchMachine.of(events).state;
  for (const event of events) {
    if (event.type !== "TrialProposed") continue;
    const { number, hyperparameters = {} } = event.data;
    other.recorded.set(number, { hyperparameters, reports: [], heard: 0 });
  }
  other.do({ type: "StartSearch", config, seed });
  for (const event of events) {
    const command = recordedCommand(event);
    if (command?.type !== "RecordValidation" && command?.type !== "RecordOutcome") continue;
    other.recorded.get(command.trial)?.reports.push(command);
    other.do({ type: "Hear", trial: command.trial });
  }
  return comparison(recorded, events, other);
}

/** The next step: a command, or the next recorded event of a trial. */
type Task = SearchCommand | { readonly type: "Hear"; readonly trial: number };

class OtherSearch {
  readonly #search = new SearchMachine();
  readonly events: SearchEvent[] = [];
  readonly recorded = new Map<number, Recorded>();
  beyond = 0;

  get state(): SearchState {
    return this.#search.state;
  }

  /** Performs a task and all tasks that follow from it. */
  do(task: Task): void {
    const tasks: Task[] = [task];
    for (let next = tasks.shift(); next !== undefined; next = tasks.shift()) {
      const command = next.type === "Hear" ? this.#nextReport(next.trial) : next;
      if (command === null) continue;
      for (const event of this.#send(command)) tasks.push(...this.#following(event));
      const offer = suggestionOf(this.state);
      if (offer !== null) tasks.unshift(offer);
      if (next.type === "Hear") tasks.push(next);
    }
  }

  /** The trial's next recorded report; null while the trial does not run, or if none is left. */
  #nextReport(trial: number): SearchCommand | null {
    const record = this.recorded.get(trial);
    const report = record?.reports[record.heard];
    if (record === undefined || report === undefined || !this.#runs(trial)) return null;
    record.heard += 1;
    return heardAs(report);
  }

  #send(command: SearchCommand): readonly SearchEvent[] {
    const decided = this.#search.decide(command);
    assert(!isRejection(decided), "the other search takes what it proposed itself");
    const events = decided.map((event) => this.#asRecorded(event));
    for (const event of events) this.#search.apply(event);
    this.#search.keep();
    this.events.push(...events);
    return events;
  }

  #runs(trial: number): boolean {
    const state = trialOf(this.state, trial);
    return state?.outcome === TrialOutcome.UNSPECIFIED && state.wanted === "run";
  }

  #asRecorded(event: SearchEvent): SearchEvent {
    if (event.type !== "TrialProposed") return event;
    const record = this.recorded.get(event.data.number);
    if (record === undefined) return event;
    return { ...event, data: { ...event.data, hyperparameters: record.hyperparameters } };
  }

  #following(event: SearchEvent): readonly Task[] {
    switch (event.type) {
      case "TrialProposed": {
        const { number: trial } = event.data;
        if (this.recorded.has(trial)) return [{ type: "Hear", trial }];
        this.beyond += 1;
        return [{ type: "RecordOutcome", trial, outcome: TrialOutcome.CANCELED }];
      }
      case "TrialResumed":
        return [{ type: "Hear", trial: event.data.trial }];
      case "TrialStopDecided": {
        const { trial, fails } = event.data;
        if (trialOf(this.state, trial)?.outcome !== TrialOutcome.UNSPECIFIED) return [];
        const outcome = fails === true ? TrialOutcome.FAILED : TrialOutcome.STOPPED_EARLY;
        return [{ type: "RecordOutcome", trial, outcome }];
      }
      default:
        return [];
    }
  }
}

/** Converts a report: a recorded early stop becomes a cancellation, since the rest of the training is unknown. */
function heardAs(report: Report): Report {
  return report.type === "RecordOutcome" && report.outcome === TrialOutcome.STOPPED_EARLY
    ? { ...report, outcome: TrialOutcome.CANCELED }
    : report;
}

function comparison(
  recorded: SearchState,
  events: readonly SearchEvent[],
  other: OtherSearch,
): WhatIf {
  const before = fatesOf(recorded, events, () => false);
  const after = fatesOf(other.state, other.events, (trial) => {
    const record = other.recorded.get(trial);
    const last = record?.reports[record.heard - 1];
    return last?.type === "RecordOutcome" && last.outcome === TrialOutcome.STOPPED_EARLY;
  });
  const trials = [...other.recorded.keys()].map((trial) => ({
    trial,
    recorded: before(trial),
    other: after(trial),
  }));
  const sum = (of: "recorded" | "other"): number =>
    trials.reduce((units, trial) => units + trial[of].units, 0);
  const completion = other.events.find((event) => event.type === "SearchCompleted");
  return {
    trials,
    units: { recorded: sum("recorded"), other: sum("other") },
    best: { recorded: bestShown(recorded), other: bestShown(other.state) },
    beyond: other.beyond,
    completion:
      completion?.type === "SearchCompleted" ? (completions[completion.data.reason] ?? "") : null,
  };
}

const completions: Readonly<Record<number, string>> = {
  [SearchCompletion.EXHAUSTED]: "exhausted",
  [SearchCompletion.CANCELED]: "canceled",
  [SearchCompletion.FAILED]: "failed",
};

const ends: Readonly<Record<number, string>> = {
  [TrialOutcome.COMPLETED]: "completed",
  [TrialOutcome.STOPPED_EARLY]: "stopped",
  [TrialOutcome.CANCELED]: "canceled",
  [TrialOutcome.FAILED]: "failed",
  [TrialOutcome.INVALID_HYPERPARAMETERS]: "invalid",
};

function fatesOf(
  state: SearchState,
  events: readonly SearchEvent[],
  isUnknown: (trial: number) => boolean,
): (trial: number) => Fate {
  const units = new Map<number, number>();
  const rules = new Map<number, string>();
  for (const event of events) {
    if (event.type === "ObservationRecorded") {
      const { trial, time } = event.data;
      units.set(trial, Math.max(time, units.get(trial) ?? 0));
    } else if (event.type === "TrialStopDecided" || event.type === "TrialSuspended") {
      rules.set(event.data.trial, event.data.rule);
    } else if (event.type === "TrialResumed") {
      rules.delete(event.data.trial);
    }
  }
  return (trial) => {
    const found = trialOf(state, trial);
    const running = found?.wanted === "suspended" ? "suspended" : "running";
    const end = ends[found?.outcome ?? 0] ?? running;
    return {
      units: units.get(trial) ?? 0,
      end: found === undefined ? "not proposed" : isUnknown(trial) ? "unknown" : end,
      rule: rules.get(trial) ?? "",
    };
  };
}
