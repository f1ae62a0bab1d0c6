/**
 * The world of one search, from a seed: its trials report, sometimes twice, late, of a superseded run or not a number,
 * and end well or badly. A custom search has a client that keeps four trials running. The next act depends on the
 * search's decisions so far.
 */
import type { AnyEvent, EventData } from "@trainyard/contracts";
import { StopKind, TrialOutcome } from "@trainyard/contracts/events";
import type { JsonObject, NormalisedConfig } from "@trainyard/experiment-config";
import { deriveCommitId } from "@trainyard/event-log";
import { draw, drawInteger } from "@trainyard/kernel";
import type { Input } from "./sequence.ts";

/** The time at which a trial that is not stopped has finished its training. */
const fullTime = 9;
const clientTrials = 4;
const clientTrialsMax = 10;

type TrialHere = {
  run: number;
  time: number;
  wanted: "run" | "suspended" | "stopped";
  ended: boolean;
};

export class Trainer {
  readonly #config: NormalisedConfig;
  readonly #experiment: string;
  readonly #seed: number;
  readonly #trials: TrialHere[] = [];
  #seen = 0;
  #turns = 0;
  #posted = 0;
  #over = false;

  constructor(config: NormalisedConfig, experiment: string, seed: number) {
    this.#config = config;
    this.#experiment = experiment;
    this.#seed = seed;
  }

  created(): Input {
    const data: EventData<"ExperimentCreated"> = {
      config: JSON.parse(JSON.stringify(this.#config)) as JsonObject,
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      seed: this.#seed,
      name: "",
      description: "",
      labels: [],
      owner: "",
      workspace: "",
      project: "",
    };
    return told(`experiment-${this.#experiment}`, { type: "ExperimentCreated", data });
  }

  stopped(): Input {
    const data = { kind: StopKind.KILL, reason: "" };
    return told(`experiment-${this.#experiment}`, { type: "ExperimentStopRequested", data });
  }

  /** Takes the new events of the search. */
  see(events: readonly AnyEvent[]): void {
    for (const event of events.slice(this.#seen)) this.#see(event);
    this.#seen = events.length;
  }

  #see({ type, data }: AnyEvent): void {
    if (type === "TrialProposed") {
      const wanted = data.waits === true ? "suspended" : "run";
      const time = data.startFromStep ?? 0;
      this.#trials[data.number - 1] = { run: 0, time, wanted, ended: false };
    }
    if (type === "TrialSuspended") this.#want(data.trial, "suspended");
    if (type === "TrialResumed") this.#want(data.trial, "run");
    if (type === "TrialStopDecided") this.#want(data.trial, "stopped");
    if (type === "SearchCompleted") this.#over = true;
  }

  #want(number: number, wanted: TrialHere["wanted"]): void {
    const trial = this.#trials[number - 1];
    if (trial !== undefined) trial.wanted = wanted;
  }

  /** Returns the next act; null when none is possible. */
  next(): Input | null {
    if (this.#over) return null;
    if (this.#config.searcher.name === "custom") {
      const operations = this.#proposals();
      if (operations.length > 0) return { kind: "posted", operations };
    }
    const open = this.#trials.flatMap((trial, at) =>
      trial.ended || trial.wanted === "suspended" ? [] : [{ trial, number: at + 1 }],
    );
    this.#turns += 1;
    const picked = open[this.#chance("trial", Math.max(1, open.length))];
    return picked === undefined ? null : this.#happens(picked.number, picked.trial);
  }

  #chance(what: string, below: number): number {
    return drawInteger(this.#seed, `kill9/${what}`, this.#turns, below);
  }

  #proposals() {
    const running = this.#trials.filter(({ ended }) => !ended).length;
    const count = Math.min(clientTrials - running, clientTrialsMax - this.#posted);
    return Array.from({ length: Math.max(0, count) }, () => {
      this.#posted += 1;
      const value = {
        hyperparameters: { lr: 0.001 * this.#posted, units: 4 + this.#posted },
        stopAtTarget: false,
      };
      return { id: `p${this.#posted}`, operation: { case: "propose" as const, value } };
    });
  }

  #happens(number: number, trial: TrialHere): Input {
    const id = `${this.#experiment}.${number}`;
    if (trial.wanted === "stopped") return this.#ends(id, trial, TrialOutcome.STOPPED_EARLY);
    if (trial.time >= fullTime) return this.#ends(id, trial, TrialOutcome.COMPLETED);
    const luck = this.#chance("luck", 100);
    if (luck < 2) return this.#ends(id, trial, TrialOutcome.INVALID_HYPERPARAMETERS);
    if (luck < 4) return this.#ends(id, trial, TrialOutcome.FAILED);
    if (trial.run === 0 || luck < 8) return this.#runs(id, trial);
    // This report belongs to an earlier run, or to a time that was already reported.
    if (luck < 12 && trial.run > 1) return this.#reports(id, trial.run - 1, trial.time + 5, number);
    if (luck < 16 && trial.time > 0) return this.#reports(id, trial.run, trial.time, number);
    if (luck < 40 && trial.time > 0) return this.#checkpoints(id, trial);
    trial.time = Math.min(fullTime, trial.time + 1 + this.#chance("ahead", 3));
    return this.#reports(id, trial.run, trial.time, number);
  }

  #ends(id: string, trial: TrialHere, outcome: TrialOutcome): Input {
    trial.ended = true;
    const data = { outcome, reason: "", restarts: 0 };
    return told(`trial-${id}`, { type: "TrialEnded", data });
  }

  #runs(id: string, trial: TrialHere): Input {
    trial.run += 1;
    const data = {
      run: trial.run,
      fromCheckpoint: "",
      fromStep: 0,
      preemptible: true,
      experiment: this.#experiment,
      delayMs: 0,
      workspace: "",
      owner: "",
    };
    return told(`trial-${id}`, { type: "RunRequested", data });
  }

  #reports(id: string, run: number, step: number, number: number): Input {
    const bad = this.#chance("bad", 40) === 0;
    const asymptote = draw(this.#seed, "kill9/asymptote", number);
    const loss = bad ? Number.NaN : asymptote + 1 / step;
    const reportKey = `${this.#turns}`;
    const data = { trial: id, run, step, scalars: { loss }, reportKey, nonNumeric: [] };
    return told(`measurement-${id}`, { type: "ValidationReported", data });
  }

  #checkpoints(id: string, { run, time }: TrialHere): Input {
    const checkpoint = deriveCommitId("kill9", id, String(this.#turns));
    return told(`trial-${id}`, {
      type: "TrialCheckpointed",
      data: { checkpoint, run, step: time },
    });
  }
}

function told(stream: string, event: AnyEvent): Input {
  return { kind: "told", told: { stream, events: [event] } };
}
