import type { Aggregate, StreamFold } from "@trainyard/runtime";
import {
  type Measurement,
  type MeasurementCommand,
  type MeasurementEvent,
  measurement,
} from "./core/measurement/measurement.ts";
import { evolveRunHistory, noRuns, type RunHistory } from "./core/run-history.ts";

export const runHistories: StreamFold<RunHistory> = {
  name: "run-history",
  category: "trial",
  initial: noRuns,
  evolve: evolveRunHistory,
};

/** Folds whether an experiment is deleted for good. */
export const deletions: StreamFold<{ readonly isDeleted: boolean }> = {
  name: "deletion",
  category: "experiment",
  initial: { isDeleted: false },
  evolve: (state, event) => (event.type === "ExperimentDeleted" ? { isDeleted: true } : state),
};

export const measurements: Aggregate<Measurement, MeasurementCommand, MeasurementEvent> = {
  name: "measurement",
  category: "measurement",
  decider: measurement,
};
