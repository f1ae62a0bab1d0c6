import type { FieldProblem } from "@trainyard/kernel";
import { runtimeLimits } from "./limits.ts";

/**
 * An error answer, with a status of 400 or above (RFC 9457). It is thrown where the reason is known, and rendered once.
 */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly code: string;
  readonly problems: readonly FieldProblem[];
  readonly retryAfterSeconds: number | null;

  constructor(
    status: number,
    code: string,
    detail: string,
    options: {
      readonly problems?: readonly FieldProblem[];
      readonly retryAfterSeconds?: number;
    } = {},
  ) {
    super(detail);
    this.status = status;
    this.code = code;
    this.problems = options.problems ?? [];
    const retry = status === 429 || status === 503 ? runtimeLimits.retryAfterSeconds : null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? retry;
  }
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  410: "Gone",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  425: "Too Early",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

export function problemHeaders({ status, retryAfterSeconds }: Problem) {
  return {
    "content-type": "application/problem+json; charset=utf-8",
    ...(status === 401 && { "www-authenticate": 'Bearer realm="trainyard"' }),
    ...(retryAfterSeconds !== null && { "retry-after": String(retryAfterSeconds) }),
  };
}

/** Returns the text of an error answer: the message trainyard.api.v1.Problem. */
export function problemText(problem: Problem, instance: string): string {
  return JSON.stringify({
    type: "about:blank",
    title: titles[problem.status] ?? "Error",
    status: problem.status,
    detail: problem.message,
    instance,
    code: problem.code,
    ...(problem.problems.length > 0 && { errors: problem.problems }),
  });
}
