/** What narrows the space of a search, and what it starts with. */
import { z } from "zod";
import { oneOf, section, text } from "./values.ts";

/** More are a program. */
const CONSTRAINTS_MAX = 100;
/** Points that somebody writes down. */
const POINTS_MAX = 1_000;

/** One expression, or a list of them. */
export const constraints = oneOf(
  [text, z.array(text).max(CONSTRAINTS_MAX)],
  `an expression such as "batch_size <= 512", or a list of at most ${CONSTRAINTS_MAX}`,
);

export const warmStart = section({
  points: z.array(z.record(z.string(), z.any())).max(POINTS_MAX),
});
