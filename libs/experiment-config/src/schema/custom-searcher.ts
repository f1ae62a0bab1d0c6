/** The keys of the searcher that asks a process outside. */
import { z } from "zod";
import { configLimits } from "../limits.ts";
import { count } from "./values.ts";

export const customKeys = {
  max_trials: z.int().min(1).max(configLimits.trialsPerSearchMax),
  max_concurrent_trials: count,
  /** Determined's, of a time when the search said how long to train; the client's targets are in the time metric. */
  unit: z.enum(["batches", "records", "epochs"]),
};
