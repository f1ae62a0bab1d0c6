import type { Plain } from "@trainyard/contracts";
import type { Problem } from "@trainyard/contracts/api";

/** The platform answered with a problem (RFC 9457). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly problem: Plain<Problem>;
  /** The pause that a 429 or 503 asks for; 0 without one. */
  readonly retryAfterMs: number;

  constructor(problem: Plain<Problem>, retryAfterMs: number = 0) {
    super(problem.detail);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The platform did not answer at all. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}
