import type { Aggregate, StreamFold } from "@trainyard/runtime";
import {
  type Measurement,
  type MeasurementCommand,
  type MeasurementEvent,
  measurement,
} from "./core/measurement/measurement.ts";
import { evolveRunHistory, noRuns, type RunHistory } from "./core/run-history.ts";

export const runHistoryFold: StreamFold<RunHistory> = {
  name: "run-history",
  category: "trial",
  initial: noRuns,
  evolve: evolveRunHistory,
};

export const measurements: Aggregate<Measurement, MeasurementCommand, MeasurementEvent> = {
  name: "measurement",
  category: "measurement",
  decider: measurement,
};
