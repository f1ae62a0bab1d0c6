/** The keys of the searchers that fill the space evenly or follow a model of it. */
import { z } from "zod";
import { configLimits } from "../limits.ts";
import { objectiveKeys } from "./objectives.ts";
import { count, flag } from "./values.ts";

export const gpKeys = {
  max_trials: z.int().min(1).max(configLimits.trialsPerSearchMax),
  max_concurrent_trials: count,
};

export const sobolKeys = { ...gpKeys, ...objectiveKeys };

export const tpeKeys = { ...sobolKeys, multivariate: flag };
