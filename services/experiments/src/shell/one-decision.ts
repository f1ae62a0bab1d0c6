import { isFault } from "@trainyard/kernel";

/** Whether an error concerns one decision only, so that a retry would fail again. */
export function isOfOneDecision(error: unknown): boolean {
  return !isFault(error) || error.retry === "never";
}
