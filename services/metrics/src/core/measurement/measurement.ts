/**
 * The stream measurement-<trial>: its validations, and the step from which a run repeats the work of earlier runs.
 *
 * A validation is recorded once because its commit id derives from the run and the report's key. A validation that does
 * not count is not recorded because of the guard on the trial's stream.
 */
import type { EventData, EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";

export type MeasurementEvent = EventOf<"ValidationReported" | "MeasurementsSuperseded">;

export type MeasurementCommand =
  | { readonly kind: "report_validation"; readonly validation: EventData<"ValidationReported"> }
  | { readonly kind: "supersede"; readonly run: number; readonly afterStep: number };

/** The latest run that supersedes earlier runs; runs are requested in ascending order. */
export type Measurement = { readonly latestSupersedingRun: number };

export const measurement: Decider<Measurement, MeasurementCommand, MeasurementEvent> = {
  initial: { latestSupersedingRun: 0 },

  decide(state, command) {
    if (command.kind === "report_validation") {
      return [{ type: "ValidationReported", data: command.validation }];
    }
    const { run, afterStep } = command;
    if (run <= state.latestSupersedingRun) return [];
    return [{ type: "MeasurementsSuperseded", data: { run, afterStep } }];
  },

  evolve(state, event) {
    if (event.type !== "MeasurementsSuperseded") return state;
    return { latestSupersedingRun: Math.max(state.latestSupersedingRun, event.data.run) };
  },
};
