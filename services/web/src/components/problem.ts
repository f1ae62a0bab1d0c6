import { ApiError, Unreachable } from "@trainyard/client";

export type ShownError = {
  /** A sentence about the mistake. */
  readonly what: string;
  /** The remedy; empty if the sentence contains it. */
  readonly todo: string;
  /** The place and the message of each error, for a request with several. */
  readonly parts: readonly { readonly path: string; readonly detail: string }[];
};

/** The advice for each code of a problem: the server's sentence has the problem, this table the remedy. */
const todoOf: Readonly<Record<string, string>> = {
  unauthenticated: "Sign in again.",
  invalid_token: "Sign in again.",
  stale_revision: "Somebody changed it since: load it again, and repeat your change.",
  busy: "Many are asking at this moment: try again in a few seconds.",
  query_too_slow: "Add a condition that leaves fewer rows.",
};

/** Formats anything that was thrown for a person. */
export function shownError(error: unknown): ShownError {
  if (error instanceof ApiError) {
    const { detail, title, code, status, errors } = error.problem;
    const parts = errors.map(({ path, detail: said }) => ({ path, detail: said }));
    const todo = todoOf[code] ?? (status >= 500 ? "Try again; the gateway's log has more." : "");
    return { what: sentence(detail || title || `The answer was HTTP ${status}`), todo, parts };
  }
  if (error instanceof Unreachable) {
    const todo = "Check that the cluster runs: yard cluster status.";
    return { what: "The platform does not answer.", todo, parts: [] };
  }
  const said = error instanceof Error ? error.message : String(error);
  return { what: sentence(said || "Something failed"), todo: "Load the page again.", parts: [] };
}

/** Makes a sentence: a capital at the beginning and a full stop at the end. */
function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`;
}

/** Splits a text at an error: the text before it, the word at its column, and the rest. */
export function aroundFault(text: string, column: number): readonly [string, string, string] {
  const from = column - 1;
  const length = /^[^\s()]*/.exec(text.slice(from))?.[0].length ?? 0;
  const until = from + Math.max(1, length);
  return [text.slice(0, from), text.slice(from, until) || " ", text.slice(until)];
}

/** Returns the column, from 1, and the message of a refused filter; null for any other error. */
export function filterFault(
  error: unknown,
): { readonly column: number; readonly detail: string } | null {
  if (!(error instanceof ApiError) || error.problem.code !== "invalid_filter") return null;
  const found = /^filter, column (\d+): (.*)$/s.exec(error.problem.detail);
  if (found === null) return { column: 1, detail: sentence(error.problem.detail) };
  return { column: Number(found[1]), detail: sentence(found[2] ?? "") };
}

/** Returns the error of a list; null if it is a refused filter, which the filter's field explains. */
export const listError = (error: unknown): unknown => (filterFault(error) === null ? error : null);
