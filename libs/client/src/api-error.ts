import type { Plain } from "@trainyard/contracts";
import type { Problem } from "@trainyard/contracts/api";

/** The platform answered with a problem (RFC 9457). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly problem: Plain<Problem>;

  constructor(problem: Plain<Problem>) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** The platform did not answer at all. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}
