/**
 * Stores the reports of a request:
 *
 *   reports ─► which of them count? ─► validations: an event each ─► all: rows, one insert ─► answer, live copies
 *                                 └► the others are refused
 *
 * An acknowledged report is in the table and, if it is a validation or an alert, in the log. The event comes first: its
 * commit guards the trial's stream, so the log's order alone decides whether a validation still counts when a later run
 * is requested. A crash between event and row leaves an event of an unacknowledged report. The report is sent again;
 * its event is recognised by its commit id, and its row by its key.
 */
import type { Bus } from "@trainyard/bus";
import { metricSubject } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type Point, PointSchema } from "@trainyard/contracts/commands";
import { deriveCommitId } from "@trainyard/event-log";
import { isRejection, type RunParts, reject, runId, streamName } from "@trainyard/kernel";
import {
  Batches,
  type Executor,
  foldOf,
  KeyedQueue,
  type RunTokenContent,
  serviceMeta,
} from "@trainyard/runtime";
import { alertsOf } from "../core/alerts.ts";
import { measurement } from "../core/measurement/measurement.ts";
import { validationGroup } from "../core/reports.ts";
import { isKnownRun, lastStepThatCounts, type RunHistory } from "../core/run-history.ts";
import { valuesOf } from "../core/values.ts";
import { latestProgress, type NewReport } from "../core/writes.ts";
import { metricsLimits } from "../limits.ts";
import { deletions, measurements, runHistories } from "../streams.ts";
import type { Telemetry } from "../telemetry.ts";
import type { PointStore } from "./point-store.ts";
import type { PointRow } from "./write-points.ts";

export type Taken =
  | { readonly kind: "unknown_run" }
  | {
      readonly kind: "taken";
      readonly stored: number;
      /** The number of reports beyond the step from which a later run repeats the work. */
      readonly refused: number;
    };

type RunContext = RunParts & {
  readonly id: string;
  readonly grant: RunTokenContent;
  /** The span of the report, under which its events are appended. */
  readonly traceparent: string;
};

const pointCodec = codecOf<Plain<Point>>(PointSchema);
const encoder = new TextEncoder();

/** Several ranks may report at one step. Only the chief's report is a validation, since a search uses one value. */
const isValidation = ({ group, rank, system }: NewReport): boolean =>
  group === validationGroup && rank === 0 && system === null;

/** The approximate size of a row in memory: its values, its fixed fields, and its names, as each new name is a row. */
const rowBytes = ({ metrics, bytes, system }: PointRow): number =>
  system === null
    ? 256 + bytes + 64 * Object.keys(metrics).length
    : 256 + 160 * system.values.length;

/** The identity of the commit of a report's event. */
function identityOf(run: RunContext, kind: "report" | "progress" | "alert", key: string) {
  const { grantPosition: position, grantId: id } = run.grant;
  return {
    commitId: deriveCommitId(kind, run.id, id, key),
    // A log that went back meanwhile does not take the event.
    seen: { position, id },
    meta: serviceMeta("metrics", {
      correlationid: `experiment-${run.experiment}`,
      authid: `run:${run.id}`,
      traceparent: run.traceparent,
    }),
  };
}

export class Ingest {
  readonly #executor: Executor;
  readonly #bus: Bus;
  readonly #events: Telemetry;
  readonly #points: PointStore;
  readonly #batches: Batches<PointRow, ReadonlySet<PointRow>>;
  readonly #queue = new KeyedQueue();

  constructor(deps: {
    readonly executor: Executor;
    readonly bus: Bus;
    readonly store: PointStore;
    readonly events: Telemetry;
  }) {
    this.#executor = deps.executor;
    this.#bus = deps.bus;
    this.#events = deps.events;
    this.#points = deps.store;
    this.#batches = new Batches(metricsLimits, rowBytes, (rows) => deps.store.insert(rows));
  }

  /** Stores reports of the run with this grant. Resolves after the commit. */
  async take(
    parts: RunParts,
    grant: RunTokenContent,
    reports: readonly NewReport[],
    traceparent = "",
  ): Promise<Taken> {
    const run = { ...parts, id: runId(parts.trial, parts.run), grant, traceparent };
    const history = await this.#historyOf(run);
    if (history === null) return { kind: "unknown_run" };
    const lastStep = lastStepThatCounts(history, run.run);
    // System samples count even at steps that a later run repeats.
    const counting = reports.filter(({ system, step }) => system !== null || step <= lastStep);
    await this.#announceProgress(run, counting);
    await this.#announceAlerts(run, counting);
    const kept = counting.some(isValidation)
      ? // One request of a trial after the other, so that a repeat finds what the first one stored.
        await this.#queue.run(run.trial, () => this.#announceAndStore(run, counting))
      : await this.#store(run, counting);
    const refused = reports.length - kept;
    this.#events.taken(kept, refused);
    return { kind: "taken", stored: kept, refused };
  }

  /** Returns the runs of the trial; null if the log does not have the run, or if the experiment is deleted. */
  async #historyOf(run: RunContext): Promise<RunHistory | null> {
    const { cache } = this.#executor;
    // A spool may send reports weeks after the deletion of their experiment.
    if ((await cache.load(deletions, run.experiment)).state.isDeleted) return null;
    const { state } = await cache.load(runHistories, run.trial);
    if (isKnownRun(state, run.run)) return state;
    cache.forget(streamName(runHistories.category, run.trial));
    const again = await cache.load(runHistories, run.trial);
    return isKnownRun(again.state, run.run) ? again.state : null;
  }

  /** Stores all reports except validations that a later run superseded in the meantime. */
  async #announceAndStore(run: RunContext, reports: readonly NewReport[]): Promise<number> {
    const validations = reports.filter(isValidation).map(({ key }) => key);
    const stored = await this.#points.stored(run, validations);
    const kept: NewReport[] = [];
    for (const report of reports) {
      // A stored report has its event already, so repeating a large request costs one query instead of one commit per
      // validation.
      const counts =
        !isValidation(report) || stored.has(report.key) || (await this.#announce(run, report));
      if (counts) kept.push(report);
    }
    return this.#store(run, kept);
  }

  /** Records the latest progress of a request, if it is due. */
  async #announceProgress(run: RunContext, reports: readonly NewReport[]): Promise<void> {
    const latest = latestProgress(reports);
    if (latest === null) return;
    const { key, ...reported } = latest;
    const command = { kind: "report_progress", run: run.run, ...reported } as const;
    const { state } = await this.#executor.cache.load(foldOf(measurements), run.trial);
    const decided = measurement.decide(state, command);
    if (isRejection(decided) || decided.length === 0) return;
    await this.#executor.execute(identityOf(run, "progress", key), async (work) => {
      const rejected = await work.decide(measurements, run.trial, command);
      return isRejection(rejected) ? rejected : undefined;
    });
  }

  /** Records the alerts of a request, before it is acknowledged. */
  async #announceAlerts(run: RunContext, reports: readonly NewReport[]): Promise<void> {
    for (const alert of alertsOf(reports)) {
      const command = {
        kind: "raise_alert",
        alert: { trial: run.trial, run: run.run, ...alert },
      } as const;
      await this.#executor.execute(identityOf(run, "alert", alert.reportKey), async (work) => {
        const rejected = await work.decide(measurements, run.trial, command);
        return isRejection(rejected) ? rejected : undefined;
      });
    }
  }

  async #announce(run: RunContext, report: NewReport): Promise<boolean> {
    const identity = identityOf(run, "report", report.key);
    const result = await this.#executor.execute(identity, async (work) => {
      const history = await work.guard(runHistories, run.trial);
      if (report.step > lastStepThatCounts(history, run.run)) {
        return reject("run_superseded", `a later run of trial ${run.trial} repeats this step`);
      }
      const { scalars, others } = valuesOf(report.metrics);
      const validation = {
        trial: run.trial,
        run: run.run,
        step: report.step,
        scalars,
        reportKey: report.key,
        nonNumeric: Object.keys(others).sort().slice(0, metricsLimits.nonNumericNamesMax),
      };
      const decided = await work.decide(measurements, run.trial, {
        kind: "report_validation",
        validation,
      });
      return isRejection(decided) ? decided : undefined;
    });
    return !isRejection(result);
  }

  /** Stores reports. Returns the number of new ones. */
  async #store(run: RunContext, reports: readonly NewReport[]): Promise<number> {
    if (reports.length === 0) return 0;
    const { trial, run: number, grant } = run;
    const rows = reports.map((report) => ({ ...report, trial, run: number, grant }));
    const inserted = await this.#batches.add(run.id, rows);
    // The last report of each group announces all of them.
    const latest = new Map<string, PointRow>();
    for (const row of rows) {
      if (row.system === null && inserted.has(row)) latest.set(row.group, row);
    }
    for (const row of latest.values()) this.#publish(run.experiment, row);
    return reports.length;
  }

  #publish(experiment: string, { trial, run, key, group, step, atMs, metrics }: PointRow): void {
    const moment = { run, key, group, stepsCompleted: step, atMs };
    const copy = { ...moment, ...valuesOf(metrics), superseded: false };
    const body = encoder.encode(pointCodec.encode(copy));
    if (body.byteLength > metricsLimits.liveCopyBytesMax) return;
    this.#bus.publishLive("METRICS", metricSubject(experiment, trial, group), body);
  }
}
