import type { FieldProblem, Rejection } from "@trainyard/kernel";
import { gatewayLimits } from "../limits.ts";

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
    const retry = status === 429 || status === 503 ? gatewayLimits.retryAfterSeconds : null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? retry;
  }
}

/** The HTTP statuses of rejection codes. A code without a status is a conflict, 409. */
const statusOfCode: Readonly<Record<string, number>> = {
  invalid_config: 400,
  invalid_request: 400,
  invalid_context: 400,
  invalid_manifest: 400,
  invalid_hyperparameters: 400,
  config_too_large: 413,
  context_too_large: 413,
  too_large: 413,
  experiment_not_found: 404,
  trial_not_found: 404,
  checkpoint_not_found: 404,
  token_not_found: 404,
  pin_not_found: 404,
  context_not_found: 404,
  view_not_found: 404,
  workspace_not_found: 404,
  project_not_found: 404,
  not_found: 404,
  agent_unknown: 404,
  slot_unknown: 404,
  pool_not_found: 404,
  model_not_found: 404,
  version_not_found: 404,
  alias_not_found: 404,
  metric_not_found: 404,
  invalid_pool: 400,
  position_gone: 410,
  search_unknown: 404,
  trial_unknown: 404,
  stale_revision: 412,
  run_superseded: 409,
  run_unheard: 425,
  not_your_run: 403,
  operation_id_reused: 422,
  internal: 500,
};

export function problemOf(rejection: Rejection): Problem {
  const status = statusOfCode[rejection.rejected] ?? 409;
  return new Problem(status, rejection.rejected, rejection.detail, {
    problems: rejection.problems ?? [],
  });
}

export function unavailable(detail: string): Problem {
  return new Problem(503, "unavailable", detail);
}

export function notFound(what: string, id: string): Problem {
  return new Problem(404, `${what}_not_found`, `there is no ${what} ${id}`);
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

/** Returns the body of an error answer: the message trainyard.api.v1.Problem. */
export function problemBody(problem: Problem, instance: string) {
  return {
    type: "about:blank",
    title: titles[problem.status] ?? "Error",
    status: problem.status,
    detail: problem.message,
    instance,
    code: problem.code,
    ...(problem.problems.length === 0 ? {} : { errors: problem.problems }),
  };
}
