/**
 * From a request's reports to stored points.
 *
 *   reports ─► which of them count? ─► validations: an event each ─► all: rows, in a shared insert ─► answer, live copies
 *                    └► the others are refused
 *
 * An acknowledged report is in the table and, if it is a validation, in the log. The event comes first: its commit
 * guards the trial's stream, so the log's order alone decides whether a validation still counted when a later run was
 * requested. A death between the two leaves an event whose report was not acknowledged; it is sent again, the event is
 * recognised by its commit's id and the row by its key.
 */
import type { Bus } from "@trainyard/bus";
import { metricSubject } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type Point, PointSchema } from "@trainyard/contracts/commands";
import { deriveCommitId } from "@trainyard/event-log";
import { isRejection, type RunParts, reject, runId, streamName } from "@trainyard/kernel";
import { Batches, type Executor, newTraceparent, serviceMeta } from "@trainyard/runtime";
import { type Report, validationGroup } from "../core/reports.ts";
import { isKnownRun, lastStepThatCounts, type RunHistory } from "../core/run-history.ts";
import { isScalar, valuesOf } from "../core/values.ts";
import type { Telemetry } from "../telemetry.ts";
import { metricsLimits } from "../limits.ts";
import { measurements, runHistoryFold } from "../streams.ts";
import { Lanes } from "./lanes.ts";
import { type PointStore, pointName } from "./point-store.ts";
import type { SystemRow, SystemTable } from "./system-table.ts";
import type { PointRow } from "./write-points.ts";

export type Taken =
  | { readonly kind: "unknown_run" }
  | {
      readonly kind: "taken";
      readonly stored: number;
      /** Beyond the step from which a later run does them again. */
      readonly refused: number;
    };

type RunContext = RunParts & { readonly id: string };

const pointCodec = codecOf<Plain<Point>>(PointSchema);
const encoder = new TextEncoder();

type MachineReport = Report & { readonly system: NonNullable<Report["system"]> };

const isOfMachine = (report: Report): report is MachineReport => report.system !== null;
const isValidation = (report: Report): boolean => report.group === validationGroup;

/** Roughly what a row weighs on its way: its values, and a little for its names. */
const pointBytes = ({ metricsText }: PointRow): number => 256 + Buffer.byteLength(metricsText);
const systemBytes = ({ system }: SystemRow): number => 256 + 160 * system.values.length;

export class Ingest {
  readonly #executor: Executor;
  readonly #bus: Bus;
  readonly #events: Telemetry;
  readonly #points: PointStore;
  readonly #batches: Batches<PointRow, ReadonlySet<string>>;
  readonly #systemBatches: Batches<SystemRow, void>;
  readonly #lanes = new Lanes();

  constructor(deps: {
    readonly executor: Executor;
    readonly bus: Bus;
    readonly store: PointStore;
    readonly system: SystemTable;
    readonly events: Telemetry;
  }) {
    this.#executor = deps.executor;
    this.#bus = deps.bus;
    this.#events = deps.events;
    this.#points = deps.store;
    this.#batches = new Batches(metricsLimits, pointBytes, (rows) => deps.store.insert(rows));
    this.#systemBatches = new Batches(metricsLimits, systemBytes, (rows) =>
      deps.system.insert(rows),
    );
  }

  /** Resolves after the commit. */
  async take(parts: RunParts, reports: readonly Report[]): Promise<Taken> {
    const run = { ...parts, id: runId(parts.trial, parts.run) };
    const history = await this.#historyOf(run);
    if (history === null) return { kind: "unknown_run" };
    const lastStep = lastStepThatCounts(history, run.run);
    const ofMachines = reports.filter(isOfMachine);
    const counting = reports.filter((report) => report.system === null && report.step <= lastStep);
    const keptOfTraining = counting.some(isValidation)
      ? // One request of a trial after the other, so that a repeat finds what the first one stored.
        await this.#lanes.run(run.trial, () => this.#announceAndStore(run, counting))
      : await this.#store(run, counting);
    await this.#storeSystem(run, ofMachines);
    const kept = keptOfTraining + ofMachines.length;
    const refused = reports.length - kept;
    this.#events.taken(kept, refused);
    return { kind: "taken", stored: kept, refused };
  }

  /** The runs of the trial; null when the log has none of this number. */
  async #historyOf(run: RunContext): Promise<RunHistory | null> {
    const { cache } = this.#executor;
    const { state } = await cache.load(runHistoryFold, run.trial);
    if (isKnownRun(state, run.run)) return state;
    cache.forget(streamName(runHistoryFold.category, run.trial));
    const again = await cache.load(runHistoryFold, run.trial);
    return isKnownRun(again.state, run.run) ? again.state : null;
  }

  /** Stores all but the validations that a later run superseded meanwhile. */
  async #announceAndStore(run: RunContext, reports: readonly Report[]): Promise<number> {
    const validations = reports.filter(isValidation).map(({ key }) => key);
    const stored = await this.#points.stored(run, validations);
    const kept: Report[] = [];
    for (const report of reports) {
      // What is stored has its event: repeating a large request costs one look instead of a commit each.
      const counts =
        !isValidation(report) || stored.has(report.key) || (await this.#announce(run, report));
      if (counts) kept.push(report);
    }
    return this.#store(run, kept);
  }

  async #announce(run: RunContext, report: Report): Promise<boolean> {
    const identity = {
      commitId: deriveCommitId("report", run.id, report.key),
      meta: serviceMeta("metrics", {
        correlationid: `experiment-${run.experiment}`,
        authid: `run:${run.id}`,
        traceparent: newTraceparent(),
      }),
    };
    const result = await this.#executor.execute(identity, async (work) => {
      const history = await work.guard(runHistoryFold, run.trial);
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

  /** Gives how many. */
  async #store(run: RunContext, reports: readonly Report[]): Promise<number> {
    if (reports.length === 0) return 0;
    const rows = reports.map((report) => ({ ...report, trial: run.trial, run: run.run }));
    const inserted = await this.#batches.add(rows);
    for (const [group, own] of Map.groupBy(rows, (row) => row.group)) {
      const subject = metricSubject(run.experiment, run.trial, group);
      for (const row of own) if (inserted.has(pointName(row))) this.#publish(subject, row);
    }
    return reports.length;
  }

  /** What a machine was doing counts whatever later runs do again. */
  async #storeSystem(run: RunContext, reports: readonly MachineReport[]): Promise<void> {
    if (reports.length === 0) return;
    await this.#systemBatches.add(
      reports.map((report) => ({ ...report, trial: run.trial, run: run.run })),
    );
  }

  #publish(subject: string, row: PointRow): void {
    const body = encoder.encode(liveCopy(row));
    if (body.byteLength > metricsLimits.liveCopyBytesMax) return;
    this.#bus.publishLive("METRICS", subject, body);
  }
}

/** A Point as proto JSON. Of scalars alone the text is there already: every report is copied. */
function liveCopy({ run, key, group, step, atMs, metrics, metricsText }: PointRow): string {
  if (Object.values(metrics).every(isScalar)) {
    const beside = JSON.stringify({ run, key, group, stepsCompleted: step, atMs, others: {} });
    return `${beside.slice(0, -1)},"scalars":${metricsText}}`;
  }
  const { scalars, others } = valuesOf(metrics);
  const moment = { run, key, group, stepsCompleted: step, atMs };
  return pointCodec.encode({ ...moment, scalars, others, superseded: false });
}
