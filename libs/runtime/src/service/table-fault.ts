import { Fault, isFault } from "@trainyard/kernel";
import pg from "pg";

/**
 * SQLSTATE classes that speak of what was to be written: a value that a column does not take (22), a constraint (23), a
 * limit of the server's such as an index entry's size (54). However often it is sent, the answer is the same.
 */
const ofTheRows: readonly string[] = ["22", "23", "54"];

/**
 * The failure of a service's own tables at a write, as a Fault: `unstorable`, never to be sent again, or `code`, to be
 * sent later.
 */
export function tableFault(cause: unknown, code: string, what: string): Fault {
  if (cause instanceof pg.DatabaseError && ofTheRows.includes(cause.code?.slice(0, 2) ?? "")) {
    const detail = `${what} rejected the data: ${cause.message}`;
    return new Fault("unstorable", detail, { retry: "never", cause });
  }
  return new Fault(code, `${what} cannot be reached`, { retry: "later", cause });
}

/**
 * Whether an error, or the cause of a Fault, says that the database is away or shutting down (SQLSTATE classes 08 and
 * 57P, too many connections, the socket's own codes): the same for every statement, whatever it is about.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (isFault(error)) return isDatabaseAway(error.cause);
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return (
    /^(08...|57P..|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOENT)$/.test(code) ||
    /Connection terminated|timeout exceeded when trying to connect/.test(error.message)
  );
}
