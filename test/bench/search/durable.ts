/**
 * The time from a report to the committed decision, through a searcher process over a durable PostgreSQL and NATS. One
 * ASHA search trains 256 trials at a time, and each trial reports again as soon as its last report was decided.
 */
import { decodeEvent, encodeEvent } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { type NewEvent, newEventId, type StoredEvent } from "@trainyard/event-log";
import { acceptExperiment } from "@trainyard/search";
import { draw, isRejection } from "@trainyard/kernel";
import pg from "pg";
import { RealSearcher } from "../../search-kill9/real-searcher.ts";
import { openRaw } from "../event-log/raw.ts";
import { type BenchContext, type BenchResult, costResult, rateResult } from "../support/bench.ts";
import { callsPerSecond, interleave, percentile } from "../support/measure.ts";

const bar = { id: "decide_durable_vs_raw", unit: "decisions/s", floor: 0.05, goal: 0.1 };
const p50 = { id: "decide_durable_p50", unit: "ms", floor: null, goal: 1 };
const p99 = { id: "decide_durable_p99", unit: "ms", floor: null, goal: 1 };
const aimMs = { p50: 5, p99: 20 };
const aimPerSecond = 2_000;
const experiment = "1";
const running = 256;
const meta = {
  source: "/trainyard/metrics",
  workspace: "",
  correlationid: `experiment-${experiment}`,
  causationid: "",
  authid: "",
  traceparent: "",
};

export async function measureDurable(context: BenchContext): Promise<readonly BenchResult[]> {
  const { size, say, watch } = context;
  const forMs = { tiny: 100, short: 4_000, full: 15_000 }[size];
  const rounds = { tiny: 1, short: 3, full: 5 }[size];
  say(`decisions on a durable log, ${running} trials at once`);
  await using searcher = await RealSearcher.start({ fsync: true });
  using _own = watch.own(searcher.pid);
  await using raw = await openRaw(await rawDatabase(searcher.postgres.url()), 32);
  await using load = await Load.start(searcher);
  const [inserts, decisions] = await interleave(
    [
      { name: "raw inserts", round: () => callsPerSecond(32, forMs, (at) => raw.insertOne(at)) },
      { name: "decisions", round: () => load.run(forMs) },
    ],
    rounds,
    context,
  );
  const perSecond = Math.min(aimPerSecond, decisions / 2);
  load.latencies.length = 0;
  await load.run(forMs, perSecond);
  const note = `${Math.round(perSecond)} reports a second; the aim beside it`;
  return [
    rateResult(
      bar,
      decisions,
      inserts,
      "256 running trials; raw single-row inserts on 32 connections",
    ),
    costResult(p50, percentile(load.latencies, 0.5), aimMs.p50, note),
    costResult(p99, percentile(load.latencies, 0.99), aimMs.p99, note),
  ];
}

async function rawDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create database raw");
  await client.end();
  return url.replace(/\/postgres$/, "/raw");
}

type Training = { step: number; until: number; version: number };

class Load implements AsyncDisposable {
  readonly latencies: number[] = [];
  readonly #searcher: RealSearcher;
  readonly #trials = new Map<number, Training>();
  readonly #reportedAt = new Map<string, number>();
  /** The trials that wait for their time to report. */
  #waiting: number[] = [];
  #tail: AsyncDisposable | null = null;
  #on = false;
  /** The mean pause of a trial between its reports in milliseconds; 0 for none. */
  #pauseMs = 0;
  #paused = 0;
  #decided = 0;
  #failed: Error | null = null;

  private constructor(searcher: RealSearcher) {
    this.#searcher = searcher;
  }

  static async start(searcher: RealSearcher): Promise<Load> {
    const load = new Load(searcher);
    load.#tail = await searcher.bus.tailEvents((event) => load.#see(event));
    await searcher.take(created(), experiment, 0);
    while (load.#waiting.length < running) await tick();
    return load;
  }

  /**
   * Lets all trials report for `forMs`, without a pause or at `perSecond` reports in total; returns decisions per
   * second.
   */
  async run(forMs: number, perSecond = 0): Promise<number> {
    this.#decided = 0;
    this.#pauseMs = perSecond === 0 ? 0 : (running / perSecond) * 1_000;
    this.#on = true;
    const startMs = performance.now();
    for (const trial of this.#waiting.splice(0)) this.#reportSoon(trial);
    while (performance.now() - startMs < forMs) await tick();
    this.#on = false;
    const rate = this.#decided / ((performance.now() - startMs) / 1_000);
    while (this.#reportedAt.size > 0) {
      if (this.#failed !== null) throw this.#failed;
      await tick();
    }
    return rate;
  }

  #see(stored: StoredEvent): void {
    if (stored.stream !== `search-${experiment}`) return;
    const { type, data } = decodeEvent(stored);
    if (type === "TrialProposed") void this.#begin(data.number);
    if (type === "TrialResumed") {
      const trial = this.#trials.get(data.trial);
      if (trial !== undefined)
        this.#train(data.trial, Object.assign(trial, { until: data.target }));
    }
    if (type === "TrialStopDecided") void this.#end(data.trial);
    if (type === "ObservationRecorded") this.#observe(data.trial, data.measurement, stored.timeMs);
  }

  /** Requests the run of a new trial, as the experiments service does, and starts its training. */
  async #begin(number: number): Promise<void> {
    const data = {
      fromCheckpoint: "",
      fromStep: 0,
      preemptible: true,
      experiment,
      delayMs: 0,
      workspace: "",
      owner: "",
    };
    const requested = { type: "RunRequested" as const, data: { ...data, run: 1 } };
    const event = { id: newEventId(), ...encodeEvent(requested) };
    await this.#append(`trial-${experiment}.${number}`, 0, event);
    this.#train(number, { step: 0, until: 1, version: 0 });
  }

  #observe(number: number, measurement: string, committedAtMs: number): void {
    const reportedAt = this.#reportedAt.get(measurement);
    if (reportedAt === undefined) return;
    this.#reportedAt.delete(measurement);
    this.latencies.push(Math.max(0, committedAtMs - reportedAt));
    this.#decided += 1;
    const trial = this.#trials.get(number);
    if (trial !== undefined && trial.step < trial.until) this.#train(number, trial);
  }

  #train(number: number, trial: Training): void {
    this.#trials.set(number, trial);
    this.#reportSoon(number);
  }

  #reportSoon(number: number): void {
    if (!this.#on) this.#waiting.push(number);
    else if (this.#pauseMs === 0) this.#report(number);
    else {
      const share = 2 * draw(1, "pause", this.#paused);
      this.#paused += 1;
      setTimeout(() => this.#reportNow(number), this.#pauseMs * share);
    }
  }

  #reportNow(number: number): void {
    if (this.#on) this.#report(number);
    else this.#waiting.push(number);
  }

  #report(number: number): void {
    const trial = this.#trials.get(number);
    if (trial === undefined) return;
    trial.step += 1;
    const id = `${experiment}.${number}`;
    const loss = draw(1, "loss", number) + 1 / trial.step;
    const data = {
      trial: id,
      run: 1,
      step: trial.step,
      scalars: { loss },
      reportKey: `0-${trial.step}`,
      nonNumeric: [],
    };
    const event = {
      id: newEventId(),
      ...encodeEvent({ type: "ValidationReported" as const, data }),
    };
    this.#reportedAt.set(event.id, Date.now());
    void this.#append(`measurement-${id}`, trial.version, event);
    trial.version += 1;
  }

  async #end(number: number): Promise<void> {
    this.#trials.delete(number);
    const data = { outcome: TrialOutcome.STOPPED_EARLY, reason: "", restarts: 0 };
    const event = { id: newEventId(), ...encodeEvent({ type: "TrialEnded" as const, data }) };
    await this.#append(`trial-${experiment}.${number}`, 1, event);
  }

  async #append(stream: string, expectedVersion: number, event: NewEvent): Promise<void> {
    const writes = [{ stream, expectedVersion, events: [event] }];
    const request = { commitId: newEventId(), writes, guards: [], meta };
    const result = await this.#searcher.log.append(request).catch((error: unknown) => {
      this.#failed = error instanceof Error ? error : new Error(String(error));
      return null;
    });
    if (result?.kind !== "committed") this.#failed ??= new Error(JSON.stringify(result));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tail?.[Symbol.asyncDispose]();
  }
}

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

function created() {
  const document = {
    name: "durable",
    entrypoint: "true",
    checkpoint_storage: { type: "directory", container_path: "/checkpoints" },
    hyperparameters: {
      lr: { type: "log", base: 10, minval: -4, maxval: -1 },
      units: { type: "int", minval: 4, maxval: 64 },
    },
    searcher: {
      name: "asha",
      metric: "loss",
      max_trials: 100_000,
      max_concurrent_trials: running,
      max_time: 27,
      min_time: 1,
      divisor: 3,
      time_metric: "batches",
    },
  };
  const accepted = acceptExperiment(JSON.stringify(document));
  if (isRejection(accepted)) throw new Error(JSON.stringify(accepted));
  const data = {
    config: JSON.parse(JSON.stringify(accepted.config)) as Record<string, never>,
    configSourceDigest: "",
    contextDigest: "",
    contextBytes: 0,
    submissionDigest: "",
    tokenId: "",
    seed: 1,
    name: "",
    description: "",
    labels: [],
    owner: "",
    workspace: "",
    project: "",
  };
  const event = { type: "ExperimentCreated" as const, data };
  const stream = `experiment-${experiment}`;
  return { kind: "told" as const, told: { stream, events: [event] } };
}
