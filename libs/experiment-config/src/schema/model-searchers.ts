/** The keys of the searchers that fill the space evenly or follow a model of it. */
import { z } from "zod";
import { configLimits } from "../limits.ts";
import { count, flag } from "./values.ts";

export const sobolKeys = {
  max_trials: z.int().min(1).max(configLimits.trialsPerSearchMax),
  max_concurrent_trials: count,
};

export const gpKeys = { ...sobolKeys };

export const tpeKeys = { ...sobolKeys, multivariate: flag };
