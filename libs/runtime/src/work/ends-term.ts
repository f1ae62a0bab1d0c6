import { isFault } from "@trainyard/kernel";
import { LogRewound } from "../history/log-history.ts";
import { LeaseLost } from "./executor.ts";

/** Returns whether all knowledge of the term is invalid: another process holds the lease, or the log lost events. */
export function endsTerm(error: unknown): boolean {
  return error instanceof LeaseLost || error instanceof LogRewound;
}

/** Returns whether a retry may succeed, because the world failed. Any other error concerns what was decided. */
export function isTransient(error: unknown): boolean {
  return isFault(error) && error.retry !== "never";
}
