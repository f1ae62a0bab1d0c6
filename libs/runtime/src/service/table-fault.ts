import { Fault } from "@trainyard/kernel";
import pg from "pg";

/**
 * SQLSTATE classes that speak of what was to be written: a value that a column does not take (22), a constraint (23), a
 * limit of the server's such as an index entry's size (54). However often it is sent, the answer is the same.
 */
const ofTheRows: readonly string[] = ["22", "23", "54"];

/** What a service's own tables did at a write, as a Fault: `unstorable`, never to be sent again, or `code`, to be sent later. */
export function tableFault(cause: unknown, code: string, what: string): Fault {
  if (cause instanceof pg.DatabaseError && ofTheRows.includes(cause.code?.slice(0, 2) ?? "")) {
    const detail = `${what} rejected the data: ${cause.message}`;
    return new Fault("unstorable", detail, { retry: "never", cause });
  }
  return new Fault(code, `${what} cannot be reached`, { retry: "later", cause });
}
