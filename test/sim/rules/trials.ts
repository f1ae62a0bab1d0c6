import type { AnyEvent, EventData } from "@trainyard/contracts";
import { Fault, StopMode, StopWhy, TrialOutcome } from "@trainyard/contracts/events";
import type { StoredEvent } from "@trainyard/event-log";
import { parseTrialId } from "@trainyard/kernel";
import type { Report } from "../invariants.ts";
import type { CheckpointRules } from "./checkpoints.ts";
import type { ExperimentRules } from "./experiments.ts";
import type { SearchRules } from "./searches.ts";

type TrialFacts = {
  runs: number;
  /** True until the newest run has ended. */
  unended: boolean;
  /** The checkpoint that the newest run started from; empty for none. */
  from: string;
  started: boolean;
  stop: EventData<"RunStopRequested"> | null;
  failedLast: boolean;
  restarts: number;
  /** The failures of hosts and platform since the latest new checkpoint. */
  lost: number;
  line: EventData<"TrialCheckpointed">[];
  outcome: TrialOutcome | null;
  /** The checkpoints that the newest run has left, and the time until which the next run waits for them. */
  named: Set<string>;
  awaitedUntilMs: number;
  killed: boolean;
  continuation: number;
};

export type CountedMeasurement = {
  readonly id: string;
  readonly experiment: string;
  readonly number: number;
};

const harshness: readonly StopWhy[] = [
  StopWhy.PAUSE,
  StopWhy.SEARCH_SUSPEND,
  StopWhy.SEARCH_STOP,
  StopWhy.CANCEL,
  StopWhy.KILL,
];

/** The failures of hosts and platform in a row after which a trial has no other run. */
const lostTriesMax = 5;

function harshnessOf({ mode, why }: EventData<"RunStopRequested">): number {
  return harshness.indexOf(why) + (mode === StopMode.KILL ? harshness.length : 0);
}

/**
 * The rule of trials: a trial has one run at a time, requested only while the trial may run, from the latest kept
 * checkpoint.
 */
export class TrialRules {
  readonly #experiments: ExperimentRules;
  readonly #searches: SearchRules;
  readonly #checkpoints: CheckpointRules;
  readonly #facts = new Map<string, TrialFacts>();
  readonly #runOfMeasurement = new Map<string, number>();
  #counted: CountedMeasurement[] = [];

  constructor(experiments: ExperimentRules, searches: SearchRules, checkpoints: CheckpointRules) {
    this.#experiments = experiments;
    this.#searches = searches;
    this.#checkpoints = checkpoints;
  }

  has(trial: string): boolean {
    return this.#facts.has(trial);
  }

  outcomeOf(trial: string): TrialOutcome | null {
    return this.#facts.get(trial)?.outcome ?? null;
  }

  openOf(experiment: string): readonly string[] {
    return this.#of(experiment).flatMap(([id, { outcome }]) => (outcome === null ? [id] : []));
  }

  endedOf(experiment: string): number {
    return this.#of(experiment).filter(([, { outcome }]) => outcome !== null).length;
  }

  #of(experiment: string): readonly (readonly [string, TrialFacts])[] {
    return [...this.#facts].filter(([id]) => id.startsWith(`${experiment}.`));
  }

  /** The number of the trial's newest run when the measurement was stored. */
  currentRunAt(measurement: string): number | undefined {
    return this.#runOfMeasurement.get(measurement);
  }

  /** A completed search has got none of these measurements, and may learn of the trials' ends only now. */
  excuseMeasurements(experiment: string): void {
    this.#counted = this.#counted.filter((one) => one.experiment !== experiment);
  }

  countedMeasurements(): readonly CountedMeasurement[] {
    return this.#counted;
  }

  see(id: string, event: AnyEvent, { position, timeMs }: StoredEvent, report: Report): void {
    const parts = parseTrialId(id);
    if (parts === null) return report("it is no trial's stream");
    if (event.type === "TrialCreated") return this.#create(id, event.data, report);
    const trial = this.#facts.get(id);
    if (trial === undefined) return report("the trial was never created");
    if (event.type === "TrialContinued") return continued(trial, event.data, report);
    if (trial.outcome !== null && !isFailedAfterwards(trial, event) && !isOfLeft(trial, event)) {
      report("the trial had ended");
    }
    switch (event.type) {
      case "RunRequested":
        if (timeMs < trial.awaitedUntilMs) this.#waited(trial, report);
        return this.#request(parts.experiment, trial, event.data, report);
      case "RunStarted":
        if (trial.started) report("it had started");
        trial.started = true;
        return newestUnended(trial, event.data.run, report);
      case "RunStopRequested":
        newestUnended(trial, event.data.run, report);
        return stop(trial, event.data, report);
      case "RunStopWithdrawn":
        newestUnended(trial, event.data.run, report);
        if (trial.stop?.mode !== StopMode.GRACEFUL) report("no graceful stop was requested");
        trial.stop = null;
        return;
      case "RunEnded":
        newestUnended(trial, event.data.run, report);
        trial.unended = false;
        trial.failedLast = event.data.countsAsRestart;
        trial.lost += isLost(event.data, trial.line) ? 1 : 0;
        if (trial.failedLast && this.#checkpoints.isDamaged(trial.from)) {
          report(`a failure counts, but its checkpoint ${trial.from} is damaged`);
        }
        return left(trial, event.data.sealed?.checkpoints ?? [], event.data.awaitedUntilMs ?? 0);
      case "RunCheckpointsNamed":
        if (event.data.run !== trial.runs) report("a superseded run's checkpoints are named");
        return left(trial, event.data.checkpoints, event.data.awaitedUntilMs);
      case "TrialCheckpointed":
        if (event.data.run !== trial.runs) report("a superseded run's checkpoint counts");
        trial.line.push(event.data);
        trial.lost = 0;
        return;
      case "TrialKillRequested":
        if (trial.killed) report("it was killed before");
        trial.killed = true;
        return;
      case "TrialEnded":
        if (trial.unended) report(`run ${trial.runs} had not ended`);
        trial.outcome = event.data.outcome;
        return;
      default:
        return report(`unexpected at ${position}`);
    }
  }

  #waited({ named }: TrialFacts, report: Report): void {
    for (const one of named) if (!this.#checkpoints.isSettled(one)) report(`${one} is on its way`);
  }

  #create(id: string, data: EventData<"TrialCreated">, report: Report): void {
    if (this.#facts.has(id)) report("it was created before");
    const { stopping, ended } = this.#experiments.of(data.experiment);
    if (stopping || ended) report("the experiment was stopping");
    const proposed = this.#searches.proposal(data.experiment, data.number);
    if (JSON.stringify(proposed?.hyperparameters) !== JSON.stringify(data.hyperparameters)) {
      report("its hyperparameters are not those that were proposed");
    }
    if (proposed?.seed !== data.seed) report("its seed is not the one that was proposed");
    this.#facts.set(id, {
      runs: 0,
      unended: false,
      from: "",
      started: false,
      stop: null,
      failedLast: false,
      restarts: 0,
      lost: 0,
      line: warmStartOf(data),
      outcome: null,
      named: new Set(),
      awaitedUntilMs: 0,
      killed: false,
      continuation: 0,
    });
  }

  #request(
    experiment: string,
    trial: TrialFacts,
    { run, fromCheckpoint, fromStep }: EventData<"RunRequested">,
    report: Report,
  ): void {
    const { active, stopping, ended, maxRestarts } = this.#experiments.of(experiment);
    if (trial.unended) report(`run ${trial.runs} had not ended`);
    if (run !== trial.runs + 1) report(`run ${run} is out of turn`);
    if (!active || stopping || ended) report("the experiment must not run");
    if (trial.failedLast) trial.restarts += 1;
    if (trial.restarts > maxRestarts) report(`it is restart ${trial.restarts} of ${maxRestarts}`);
    if (trial.lost >= lostTriesMax) report(`${trial.lost} runs were lost without a checkpoint`);
    const usable = trial.line.filter(({ checkpoint }) => this.#checkpoints.isUsable(checkpoint));
    const latest = Math.max(0, ...usable.map(({ step }) => step));
    if (fromStep !== latest) report(`it starts from step ${fromStep}, the latest is ${latest}`);
    const known = usable.some(({ checkpoint }) => checkpoint === fromCheckpoint);
    if (fromCheckpoint !== "" && !known) report(`${fromCheckpoint} cannot be started from`);
    trial.runs = run;
    trial.unended = true;
    trial.from = fromCheckpoint;
    trial.started = false;
    trial.stop = null;
    trial.named = new Set();
    trial.awaitedUntilMs = 0;
    trial.line = trial.line.filter(({ step }) => step <= fromStep);
  }

  seeMeasurement(event: AnyEvent, stored: StoredEvent, report: Report): void {
    if (event.type !== "ValidationReported") return;
    const parts = parseTrialId(event.data.trial);
    const trial = this.#facts.get(event.data.trial);
    if (parts === null || trial === undefined) return report("of an unknown trial");
    this.#runOfMeasurement.set(stored.id, trial.runs);
    if (event.data.run !== trial.runs || trial.outcome !== null) return;
    const { experiment, number } = parts;
    this.#counted.push({ id: stored.id, experiment, number });
  }
}

/** A completed trial ends as failed if the search cannot use its reports. */
function isFailedAfterwards({ outcome }: TrialFacts, event: AnyEvent): boolean {
  const failed = event.type === "TrialEnded" && event.data.outcome === TrialOutcome.FAILED;
  return failed && outcome === TrialOutcome.COMPLETED;
}

/** True for events of the last run's named checkpoints, which may complete after the end. */
function isOfLeft({ named }: TrialFacts, event: AnyEvent): boolean {
  if (event.type === "RunCheckpointsNamed") return true;
  return event.type === "TrialCheckpointed" && named.has(event.data.checkpoint);
}

/** A continued trial's restarts are counted from 0; its last run's checkpoints are still waited for. */
function continued(
  trial: TrialFacts,
  { continuation }: EventData<"TrialContinued">,
  report: Report,
): void {
  if (trial.outcome === null) report("the trial had not ended");
  if (continuation <= trial.continuation) report("it was taken up so before");
  trial.continuation = continuation;
  trial.outcome = null;
  trial.killed = false;
  trial.failedLast = false;
  trial.restarts = 0;
  trial.lost = 0;
}

function isLost(
  { run, fault = Fault.SCRIPT, launchFailure, sealed }: EventData<"RunEnded">,
  line: TrialFacts["line"],
): boolean {
  const advanced = sealed !== undefined || line.some((checkpoint) => checkpoint.run === run);
  return fault !== Fault.SCRIPT && launchFailure?.platformAway !== true && !advanced;
}

function left(
  trial: TrialFacts,
  sealed: readonly { readonly checkpoint: string }[],
  untilMs: number,
): void {
  for (const { checkpoint } of sealed) trial.named.add(checkpoint);
  trial.awaitedUntilMs = Math.max(trial.awaitedUntilMs, untilMs);
}

/**
 * A trial that continues from another's checkpoint inherits its history; one that counts from 0 starts from its weights
 * only.
 */
function warmStartOf({ warmStartCheckpoint, warmStartStep }: EventData<"TrialCreated">) {
  if (warmStartCheckpoint === "") return [];
  return [{ checkpoint: warmStartCheckpoint, run: 0, step: warmStartStep ?? 0 }];
}

function newestUnended(trial: TrialFacts, run: number, report: Report): void {
  if (run !== trial.runs || !trial.unended) report(`run ${run} is not the trial's unended one`);
}

function stop(trial: TrialFacts, data: EventData<"RunStopRequested">, report: Report): void {
  const before = trial.stop;
  if (before !== null && harshnessOf(before) >= harshnessOf(data)) report("it is no harsher stop");
  if (before !== null && before.graceMs < data.graceMs) report("the grace has grown");
  trial.stop = data;
}
