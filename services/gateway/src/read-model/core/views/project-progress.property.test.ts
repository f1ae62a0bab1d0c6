/** Over drawn histories of an experiment: its progress and that of its trials fall only for a named reason. */
import type { AnyEvent } from "@trainyard/contracts";
import { ExperimentOutcome, RunEndWhy, TrialOutcome } from "@trainyard/contracts/events";
import { array, check, constantFrom, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import {
  created,
  requested,
  searchStarted,
  trialCreated,
} from "../../../testing/example-events.ts";
import { DocumentSet } from "./documents.ts";
import { project } from "./project.ts";

const kinds = [
  "observe",
  "report",
  "restart",
  "pause",
  "suspend",
  "resume",
  "stop",
  "complete",
  "fail",
  "cancel",
  "stop search",
  "continue",
] as const;
type Kind = (typeof kinds)[number];
type Step = { readonly kind: Kind; readonly trial: number; readonly amount: number };

const trials = 4;
const step = record({
  // Most events are reports, so that trials train far.
  kind: constantFrom(
    ...kinds,
    ...Array<Kind>(12).fill("observe"),
    ...Array<Kind>(4).fill("report"),
  ),
  trial: integer({ min: 1, max: trials }),
  amount: integer({ min: 1, max: 8 }),
});

const common = { metric: "loss", smaller_is_better: true, time_metric: "" };
const halving = { max_trials: trials, max_time: 27, min_time: 1, divisor: 3 };
const searchers = [
  { ...common, name: "random", max_trials: trials, max_time: 27, max_concurrent_trials: 4 },
  { ...common, name: "random", max_trials: trials, max_concurrent_trials: 4 },
  { ...common, name: "asha", ...halving, max_concurrent_trials: 4, resume: true },
  { ...common, name: "asha", ...halving, max_concurrent_trials: 4, resume: false },
  {
    ...common,
    name: "pbt",
    population_size: trials,
    max_time: 27,
    interval: 3,
    quantile: 0.25,
    max_trials: 8,
  },
] as const;
type Searcher = (typeof searchers)[number];

type Trial = { run: number; running: boolean; time: number; ended: boolean };

/** The progress of the experiment and of each trial, and the reasons for which they may fall with the next event. */
class History {
  readonly #documents = new DocumentSet();
  readonly #searcher: Searcher;
  readonly #trials: Trial[] = [];
  #position = 0;

  constructor(searcher: Searcher) {
    this.#searcher = searcher;
    this.#send("experiment-1", created({}));
    const { data } = searchStarted();
    this.#send("search-1", {
      type: "SearchStarted",
      data: { ...data, trialsMax: trials, searcher },
    });
    for (let number = 1; number <= trials; number += 1) {
      this.#send(`trial-1.${number}`, trialCreated(number));
      this.#trials.push({ run: 0, running: false, time: 0, ended: false });
      this.#startRun(number);
    }
  }

  take({ kind, trial: number, amount }: Step): void {
    const trial = this.#trials[number - 1];
    if (trial === undefined) return;
    if (kind === "continue") {
      this.#continue();
      return;
    }
    if (kind === "stop search") {
      this.#send("search-1", { type: "SearchStopDecided", data: {} } as AnyEvent);
      return;
    }
    if (trial.ended) return;
    const search = (type: string, data: object) =>
      this.#send("search-1", { type, data: { trial: number, rung: 0, ...data } } as AnyEvent);
    switch (kind) {
      case "observe":
        this.#observe(number, trial, amount);
        return;
      case "report":
        this.#send(`measurement-1.${number}`, {
          type: "ProgressReported",
          data: { run: trial.run, percent: amount * 10, atMs: 0 },
        });
        return;
      case "restart":
      case "pause":
        // A run that is repeated starts from an earlier checkpoint.
        trial.time = Math.max(0, trial.time - (kind === "restart" ? amount : 0));
        this.#endRun(number, trial);
        this.#startRun(number);
        return;
      case "suspend":
        search("TrialSuspended", {});
        return;
      case "resume":
        search("TrialResumed", { target: 27 });
        return;
      case "stop":
        search("TrialStopDecided", { rule: "halving" });
        return;
      default:
        this.#end(number, trial, kind);
    }
  }

  end(outcome: ExperimentOutcome): void {
    this.#send("experiment-1", { type: "ExperimentEnded", data: { outcome, reason: "" } });
  }

  #observe(number: number, trial: Trial, amount: number): void {
    trial.time = Math.min(27, trial.time + amount);
    this.#send("search-1", {
      type: "ObservationRecorded",
      data: {
        trial: number,
        run: trial.run,
        time: trial.time,
        values: {},
        measurement: `${trial.run}-${trial.time}`,
        repeat: false,
      },
    } as unknown as AnyEvent);
  }

  #startRun(number: number): void {
    const trial = this.#trials[number - 1];
    if (trial === undefined) return;
    trial.run += 1;
    trial.running = true;
    this.#send(`trial-1.${number}`, requested(trial.run, 0));
    this.#send(`trial-1.${number}`, { type: "RunStarted", data: { run: trial.run } } as AnyEvent);
  }

  #endRun(number: number, trial: Trial): void {
    trial.running = false;
    const data = { why: RunEndWhy.FAILED, exits: [], message: "", countsAsRestart: false };
    this.#send(`trial-1.${number}`, { type: "RunEnded", data: { run: trial.run, ...data } });
  }

  #end(number: number, trial: Trial, kind: "complete" | "fail" | "cancel"): void {
    if (trial.running) this.#endRun(number, trial);
    trial.ended = true;
    const { COMPLETED, FAILED, CANCELED } = TrialOutcome;
    const outcome = { complete: COMPLETED, fail: FAILED, cancel: CANCELED }[kind];
    this.#send(`trial-1.${number}`, {
      type: "TrialEnded",
      data: { outcome, reason: "", restarts: 0 },
    } as AnyEvent);
  }

  #continue(): void {
    const again = this.#trials.flatMap(({ ended }, i) => (ended ? [i + 1] : []));
    this.#send("search-1", {
      type: "SearchContinued",
      data: { continuation: 1, trials: again, searcher: this.#searcher, trialsMax: trials },
    } as AnyEvent);
    for (const number of again) {
      this.#send(`trial-1.${number}`, { type: "TrialContinued", data: { continuation: 1 } });
      const trial = this.#trials[number - 1];
      if (trial !== undefined) trial.ended = false;
      this.#startRun(number);
    }
  }

  /** Sends an event, and expects that no progress falls without a reason. */
  #send(stream: string, event: AnyEvent): void {
    const before = this.#shown();
    this.#position += 1;
    const at = { stream, timeMs: this.#position * 1_000, position: this.#position };
    project(at, event, this.#documents);
    const after = this.#shown();
    for (const [id, progress] of after) {
      expect(progress).toBeGreaterThanOrEqual(0);
      expect(progress).toBeLessThanOrEqual(1);
      if (!mayFall(event)) {
        expect(progress, `${id} after ${event.type}`).toBeGreaterThanOrEqual(before.get(id) ?? 0);
      }
    }
  }

  #shown(): ReadonlyMap<string, number> {
    const shown = new Map<string, number>();
    const experiment = this.#documents.get("experiment", "1");
    if (experiment !== undefined) shown.set("1", experiment.progress);
    for (let number = 1; number <= trials; number += 1) {
      const trial = this.#documents.get("trial", `1.${number}`);
      if (trial !== undefined) shown.set(`1.${number}`, trial.progress);
    }
    return shown;
  }
}

/** Whether an event is a report of a later run, or a continuation. */
function mayFall({ type, data }: AnyEvent): boolean {
  if (type === "SearchContinued" || type === "TrialContinued") return true;
  const reports = type === "ObservationRecorded" || type === "ProgressReported";
  return reports && "run" in data && Number(data.run) > 1;
}

test("progress falls only with a later run of a trial or a continued search", () => {
  const histories = property(
    constantFrom(...searchers),
    array(step, { maxLength: 60 }),
    constantFrom(ExperimentOutcome.COMPLETED, ExperimentOutcome.FAILED, ExperimentOutcome.CANCELED),
    (searcher, steps, outcome) => {
      const history = new History(searcher);
      for (const each of steps) history.take(each);
      history.end(outcome);
    },
  );
  const { failed, errorInstance, counterexample } = check(histories, { numRuns: 500, seed: 1 });
  expect(failed, `${JSON.stringify(counterexample)} ${String(errorInstance)}`).toBe(false);
});
