import { LogRewound } from "../history/log-history.ts";
import { LeaseLost } from "./executor.ts";

/** Returns whether all knowledge of the term is invalid: another process holds the lease, or the log lost events. */
export function endsTerm(error: unknown): boolean {
  return error instanceof LeaseLost || error instanceof LogRewound;
}
