import { isFault } from "@trainyard/kernel";

/** Whether an error is of one decision, and not of the world, which a later try may find otherwise. */
export function isOfOneDecision(error: unknown): boolean {
  return !isFault(error) || error.retry === "never";
}
