import { LogRewound } from "../history/log-history.ts";
import { LeaseLost } from "./executor.ts";

/** Whether nothing that the term knows may be used any more: another holds the lease, or the log went back. */
export function endsTerm(error: unknown): boolean {
  return error instanceof LeaseLost || error instanceof LogRewound;
}
