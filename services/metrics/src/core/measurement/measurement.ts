/**
 * The stream measurement-<trial>: its validations, the step from which a run repeats the work of earlier runs, and the
 * progress and alerts that the runs report.
 *
 * A validation or alert is recorded once because its commit id derives from the run and the report's key. A validation
 * that does not count is not recorded because of the guard on the trial's stream.
 */
import type { EventData, EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";
import { alertsPerRunMax } from "../alerts.ts";

/** The least time between two recorded percents of one run's progress. */
const progressPauseMs = 10_000;

export type MeasurementEvent = EventOf<
  "ValidationReported" | "MeasurementsSuperseded" | "ProgressReported" | "AlertRaised"
>;

export type MeasurementCommand =
  | { readonly kind: "report_validation"; readonly validation: EventData<"ValidationReported"> }
  | { readonly kind: "raise_alert"; readonly alert: EventData<"AlertRaised"> }
  | { readonly kind: "supersede"; readonly run: number; readonly afterStep: number }
  | {
      readonly kind: "report_progress";
      readonly run: number;
      /** From 0 to 1. */
      readonly fraction: number;
      readonly atMs: number;
    };

export type Measurement = {
  /** The latest run that supersedes earlier runs; runs are requested in ascending order. */
  readonly latestSupersedingRun: number;
  /** The last recorded progress; null for none. */
  readonly progress: EventData<"ProgressReported"> | null;
  /** The number of alerts of each run. */
  readonly alerts: ReadonlyMap<number, number>;
};

export const measurement: Decider<Measurement, MeasurementCommand, MeasurementEvent> = {
  initial: { latestSupersedingRun: 0, progress: null, alerts: new Map() },

  decide(state, command) {
    if (command.kind === "report_validation") {
      return [{ type: "ValidationReported", data: command.validation }];
    }
    if (command.kind === "report_progress") {
      return progressEvents(state, command);
    }
    if (command.kind === "raise_alert") {
      const { alert } = command;
      const isFull = (state.alerts.get(alert.run) ?? 0) >= alertsPerRunMax;
      return isFull ? [] : [{ type: "AlertRaised", data: alert }];
    }
    const { run, afterStep } = command;
    if (run <= state.latestSupersedingRun) return [];
    return [{ type: "MeasurementsSuperseded", data: { run, afterStep } }];
  },

  evolve(state, event) {
    if (event.type === "ProgressReported") return { ...state, progress: event.data };
    if (event.type === "AlertRaised") {
      const { run } = event.data;
      return { ...state, alerts: new Map(state.alerts).set(run, (state.alerts.get(run) ?? 0) + 1) };
    }
    if (event.type !== "MeasurementsSuperseded") return state;
    const latestSupersedingRun = Math.max(state.latestSupersedingRun, event.data.run);
    return { ...state, latestSupersedingRun };
  },
};

/**
 * Records a percent that differs from the last one of the run, some seconds after it. A percent that comes sooner is
 * left out, since the next report replaces it.
 */
function progressEvents(
  { progress }: Measurement,
  { run, fraction, atMs }: Extract<MeasurementCommand, { kind: "report_progress" }>,
): readonly MeasurementEvent[] {
  const percent = Math.floor(100 * Math.min(1, Math.max(0, fraction)));
  if (progress !== null) {
    if (run < progress.run) return [];
    const tooSoon = atMs - progress.atMs < progressPauseMs;
    if (run === progress.run && (percent === progress.percent || tooSoon)) return [];
  }
  return [{ type: "ProgressReported", data: { run, percent, atMs } }];
}
