/** The history of a search of many trials: all are queued, paused and killed together. Each trial has one report. */
import { randomUUID } from "node:crypto";
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import {
  AllocationEndCause,
  ExperimentOutcome,
  RunEndWhy,
  StopKind,
  StopWhy,
  TrialOutcome,
} from "@trainyard/contracts/events";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { created, requested, searchStarted, trialCreated, validation } from "./example-events.ts";

type Write = {
  readonly stream: string;
  readonly from: number;
  readonly events: readonly AnyEvent[];
};

const trialsPerCommit = 80;
/** The commits after which the history waits for its reader, as services do that react to each other. */
const commitsAhead = 25;

/** With the metric of the report, each trial has 15 attributes. */
const hyperparameters = Object.fromEntries(
  Array.from({ length: 14 }, (_, n) => [`a hyperparameter with a name ${n}`, n / 7]),
);

export class SearchHistory {
  readonly #log: EventLog;
  readonly #trials: number;
  /** Waits until the reader has all that is in the log. */
  readonly #level: () => Promise<void>;

  constructor(log: EventLog, trials: number, level: () => Promise<void>) {
    this.#log = log;
    this.#trials = trials;
    this.#level = level;
  }

  async begin(): Promise<void> {
    await this.#ofExperiment(0, created({}));
    await this.#append([{ stream: "search-1", from: 0, events: [searchStarted()] }]);
    await this.#ofEach((number) => {
      const trial = `1.${number}`;
      const { type, data } = trialCreated(number);
      const report = validation({ step: 1, loss: 1 / number });
      return [
        {
          stream: `trial-${trial}`,
          from: 0,
          events: [{ type, data: { ...data, hyperparameters } }, requested(1, 0)],
        },
        { stream: `allocation-${trial}#1`, from: 0, events: [queued(trial)] },
        {
          stream: `measurement-${trial}`,
          from: 0,
          events: [{ ...report, data: { ...report.data, trial } }],
        },
      ];
    });
  }

  async pause(): Promise<void> {
    await this.#ofExperiment(1, { type: "ExperimentPaused", data: {} });
    await this.#ofEach((number) => [
      {
        stream: `trial-1.${number}`,
        from: 2,
        events: [
          { type: "RunStopRequested", data: { run: 1, mode: 0, why: StopWhy.PAUSE, graceMs: 0 } },
        ],
      },
    ]);
  }

  async kill(): Promise<void> {
    const stop = { kind: StopKind.KILL, reason: "" };
    await this.#ofExperiment(2, { type: "ExperimentStopRequested", data: stop });
    const runEnded = { run: 1, why: RunEndWhy.KILLED, message: "", countsAsRestart: false };
    const trialEnded = { outcome: TrialOutcome.CANCELED, reason: "", restarts: 0 };
    const cause = AllocationEndCause.KILLED;
    await this.#ofEach((number) => [
      {
        stream: `allocation-1.${number}#1`,
        from: 1,
        events: [{ type: "AllocationEnded", data: { cause, exits: [], message: "" } }],
      },
      {
        stream: `trial-1.${number}`,
        from: 3,
        events: [
          { type: "RunEnded", data: runEnded } as unknown as AnyEvent,
          { type: "TrialEnded", data: trialEnded },
        ],
      },
    ]);
    const ended = { outcome: ExperimentOutcome.CANCELED, reason: "" };
    await this.#ofExperiment(3, { type: "ExperimentEnded", data: ended });
  }

  async delete(): Promise<void> {
    const asked = { graceEndMs: 1, reason: "" };
    await this.#ofExperiment(
      4,
      { type: "ExperimentDeletionRequested", data: asked },
      { type: "ExperimentDeleted", data: {} },
    );
  }

  #ofExperiment(from: number, ...events: readonly AnyEvent[]): Promise<void> {
    return this.#append([{ stream: "experiment-1", from, events }]);
  }

  async #ofEach(writes: (number: number) => readonly Write[]): Promise<void> {
    for (let first = 1; first <= this.#trials; first += trialsPerCommit) {
      const length = Math.min(trialsPerCommit, this.#trials - first + 1);
      const numbers = Array.from({ length }, (_, at) => first + at);
      await this.#append(numbers.flatMap(writes));
      if (numbers.some((number) => number % (trialsPerCommit * commitsAhead) === 0)) {
        await this.#level();
      }
    }
  }

  async #append(writes: readonly Write[]): Promise<void> {
    const meta = { source: "/trainyard/test", workspace: "", correlationid: "" };
    const result = await this.#log.append({
      commitId: randomUUID(),
      writes: writes.map(({ stream, from, events }) => ({
        stream,
        expectedVersion: from,
        events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
      })),
      guards: [],
      meta: { ...meta, causationid: "", authid: "", traceparent: "" },
    });
    if (result.kind !== "committed") throw new Error(JSON.stringify(result));
  }
}

const queued = (trial: string): AnyEvent =>
  ({
    type: "AllocationQueued",
    data: {
      task: trial,
      run: 1,
      job: "1",
      resources: { pool: "default", slots: 1, priority: 42, weight: 1 },
      workspace: "",
      owner: "admin",
    },
  }) as unknown as AnyEvent;
