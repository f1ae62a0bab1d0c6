import { Fault, isFault, type Retry } from "@trainyard/kernel";
import pg from "pg";

type Kind = { readonly code: string; readonly retry: Retry; readonly says: string };

/** The kinds of faults by SQLSTATE: the longest matching prefix counts. */
const kinds: Readonly<Record<string, Kind>> = {
  "08": { code: "connection_lost", retry: "later", says: "the connection to the log failed" },
  "23": { code: "log_raced", retry: "now", says: "the log changed under the statement" },
  "25006": { code: "log_read_only", retry: "later", says: "the log's database is read-only" },
  "28": { code: "not_permitted", retry: "never", says: "the log's database refused the login" },
  "3D000": { code: "log_missing", retry: "never", says: "the log's database does not exist" },
  "3F000": { code: "log_missing", retry: "never", says: "the log's schema does not exist" },
  "40": {
    code: "log_raced",
    retry: "now",
    says: "the log undid the statement in favour of another",
  },
  "42": { code: "log_missing", retry: "never", says: "the log's schema does not fit this program" },
  "42501": { code: "not_permitted", retry: "never", says: "the log did not permit this" },
  "53": { code: "log_overloaded", retry: "later", says: "the log's database is out of resources" },
  "53100": { code: "log_full", retry: "later", says: "the disk of the log's database is full" },
  "55": { code: "log_busy", retry: "later", says: "the log's database could not get a lock" },
  "57": { code: "log_unavailable", retry: "later", says: "the log's database is not available" },
  "57014": { code: "log_timeout", retry: "later", says: "the log took too long" },
  TY001: { code: "log_rewound", retry: "later", says: "the log went back" },
  "58": { code: "log_unavailable", retry: "later", says: "the log's database has a system error" },
};

const sqlState = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.code : undefined;

/** The client's message when the server's answer has timed out. */
const answerTimedOut = "Query read timeout";

const readOnlyState = "25006";

/**
 * Returns whether the server itself answered: then the connection still works, and the statement had no effect. An
 * answer "read-only" counts as no answer: the server is no longer the primary, and only a new connection finds the
 * primary.
 */
export function wasAnswered(error: unknown): boolean {
  const state = sqlState(error);
  if (state === undefined || state === readOnlyState) return false;
  return !state.startsWith("08") && !state.startsWith("57P");
}

/** Turns a database error into a Fault. The outcome of a write that failed this way is unknown. */
export function faultOf(error: unknown, doing: string): Fault {
  if (isFault(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  const state = message === answerTimedOut ? "57014" : sqlState(error);
  if (state === undefined) {
    const detail = `the log could not be reached while ${doing}: ${message}`;
    return new Fault("log_unavailable", detail, { retry: "later", cause: error });
  }
  const kind = kinds[state] ?? kinds[state.slice(0, 2)];
  return new Fault(
    kind?.code ?? "log_failed",
    `${kind?.says ?? "the log failed"} while ${doing}: ${message}`,
    {
      retry: kind?.retry ?? "never",
      cause: error,
      fields: { sqlState: state },
    },
  );
}
