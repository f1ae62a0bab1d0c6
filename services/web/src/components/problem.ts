import { ApiError, Unreachable } from "@trainyard/client";

export type ShownError = {
  /** A sentence about the mistake. */
  readonly what: string;
  /** The remedy; empty where the sentence has it. */
  readonly todo: string;
  /** The place and the sentence of each fault, where a request has several. */
  readonly parts: readonly { readonly path: string; readonly detail: string }[];
};

/** The advice for each code of a problem: the server's sentence says what is wrong, this what to do. */
const todoOf: Readonly<Record<string, string>> = {
  unauthenticated: "Sign in again.",
  invalid_token: "Sign in again.",
  stale_revision: "Somebody changed it since: load it again, and repeat your change.",
  busy: "Many are asking at this moment: try again in a few seconds.",
  query_too_slow: "Add a condition that leaves fewer rows.",
};

/** Anything that was thrown, as a person should read it. */
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

/** Begins with a capital and ends with a full stop. */
function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`;
}

/** Splits a text at a fault: the text before it, the word at its column, and the rest. */
export function aroundFault(text: string, column: number): readonly [string, string, string] {
  const from = column - 1;
  const length = /^[^\s()]*/.exec(text.slice(from))?.[0].length ?? 0;
  const until = from + Math.max(1, length);
  return [text.slice(0, from), text.slice(from, until) || " ", text.slice(until)];
}

/** The column, from 1, and the sentence of a filter that the server refuses; null for any other error. */
export function filterFault(
  error: unknown,
): { readonly column: number; readonly detail: string } | null {
  if (!(error instanceof ApiError) || error.problem.code !== "invalid_filter") return null;
  const found = /^filter, column (\d+): (.*)$/s.exec(error.problem.detail);
  if (found === null) return { column: 1, detail: sentence(error.problem.detail) };
  return { column: Number(found[1]), detail: sentence(found[2] ?? "") };
}
