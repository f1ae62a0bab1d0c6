/** Error answers, with a status of 400 and above, in the form of RFC 9457. */
import { codecOf, type Plain } from "@trainyard/contracts";
import { type Problem as ProblemMessage, ProblemSchema } from "@trainyard/contracts/api";
import type { FieldProblem } from "@trainyard/kernel";
import { metricsLimits } from "../limits.ts";

const codec = codecOf<Plain<ProblemMessage>>(ProblemSchema);

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** An error answer; throw it where the reason is known, and it is rendered once. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly status: number;
  readonly code: string;
  readonly problems: readonly FieldProblem[];

  constructor(
    status: number,
    code: string,
    detail: string,
    problems: readonly FieldProblem[] = [],
  ) {
    super(detail);
    this.status = status;
    this.code = code;
    this.problems = problems;
  }

  headers(): Readonly<Record<string, string>> {
    const type = { "content-type": "application/problem+json" };
    if (this.status === 401) return { ...type, "www-authenticate": "Bearer" };
    if (this.status !== 503) return type;
    return { ...type, "retry-after": String(metricsLimits.retryAfterSeconds) };
  }

  body(instance: string): string {
    return codec.encode({
      type: "about:blank",
      title: titles[this.status] ?? "Error",
      status: this.status,
      detail: this.message,
      instance,
      code: this.code,
      errors: this.problems,
    });
  }
}
