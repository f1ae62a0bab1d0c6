import { Fault, isFault } from "@trainyard/kernel";
import pg from "pg";

/**
 * SQLSTATE classes of faults in the written data: a value that a column refuses (22), a constraint (23), a server limit
 * such as an index entry's size (54). A retry fails the same way.
 */
const ofTheRows: readonly string[] = ["22", "23", "54"];

/**
 * Turns a failed write to a service's tables into a Fault: `unstorable`, never to be retried, or `code`, to be retried
 * later.
 */
export function tableFault(cause: unknown, code: string, what: string): Fault {
  if (cause instanceof pg.DatabaseError && ofTheRows.includes(cause.code?.slice(0, 2) ?? "")) {
    const detail = `${what} rejected the data: ${cause.message}`;
    return new Fault("unstorable", detail, { retry: "never", cause });
  }
  return new Fault(code, `${what} cannot be reached`, { retry: "later", cause });
}

/**
 * Returns whether an error, or the cause of a Fault, means that the database is unavailable or shutting down (SQLSTATE
 * classes 08 and 57P, too many connections, socket errors). Every statement would fail the same way.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (isFault(error)) return isDatabaseAway(error.cause);
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return (
    /^(08...|57P..|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOENT)$/.test(code) ||
    /^timeout expired$|Connection terminated|timeout exceeded when trying to connect/.test(
      error.message,
    )
  );
}

/** Returns whether a statement took too long. Another statement may succeed. */
export function isDatabaseSlow(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message === "Query read timeout" || ("code" in error && error.code === "57014");
}
