/** The constraints on the space of a search, and its first points. */
import { z } from "zod";
import { oneOf, positive, section, text } from "../parts/values.ts";

/** The maximum number of constraints. */
const CONSTRAINTS_MAX = 100;
/** The maximum number of given points. */
const POINTS_MAX = 1_000;
const EXPERIMENTS_MAX = 100;
/** A model of more trials costs more than it gains, and all of them must fit in one event. */
const EARLIER_TRIALS_MAX = 1_000;

/** One expression, or a list of them. */
export const constraints = oneOf(
  [text, z.array(text).max(CONSTRAINTS_MAX)],
  `an expression such as "batch_size <= 512", or a list of at most ${CONSTRAINTS_MAX}`,
).describe("Expressions that the hyperparameters of each trial satisfy, such as a < b.");

export const warmStart = section({
  points: z
    .array(z.record(z.string(), z.any()))
    .max(POINTS_MAX)
    .describe("Hyperparameters that are tried first, in this order."),
  experiments: z
    .array(positive)
    .max(EXPERIMENTS_MAX)
    .describe("Numbers of earlier experiments, whose trials the model learns from."),
  max_trials: z
    .int()
    .min(1)
    .max(EARLIER_TRIALS_MAX)
    .describe("The most trials of earlier experiments that are learned from."),
}).describe("What the search starts with.");
