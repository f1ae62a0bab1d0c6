import type { Plain } from "@trainyard/contracts";
import type { Problem } from "@trainyard/contracts/api";

/** The platform answered with a problem (RFC 9457). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly problem: Plain<Problem>;
  /** The pause that the platform asks for with a 429 or 503; 0 without one. */
  readonly retryAfterMs: number;

  constructor(problem: Plain<Problem>, retryAfterMs: number = 0) {
    super(problem.detail);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No answer came from the platform's address, or the answer broke off. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}
