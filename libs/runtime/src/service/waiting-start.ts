/**
 * A start that waits for the database. While it waits, the service's address says so: /readyz with the reason, and
 * everything else with 503, so that callers try again.
 */
import { createServer } from "@trainyard/kernel/http";
import { type Clock, isFault, pause } from "@trainyard/kernel";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";
import { Problem, problemHeaders, problemText } from "../problem.ts";
import { retryReason } from "../readiness/retry-reason.ts";
import {
  answerHealth,
  healthPaths,
  type HealthChecks,
  type HttpAddress,
  type Listening,
  listenHttp,
} from "./health-server.ts";
import { isDatabaseAway, isDatabaseSlow } from "../table-fault.ts";
import type { Registry } from "./telemetry.ts";

export type StartDeps = {
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn">;
  /** Aborts when the service is stopped before it has started. */
  readonly signal: AbortSignal;
};

/** Takes a step of a start, again as long as the database is away or slow. Any other error is thrown. */
export async function onceAnswered<Result>(
  { clock, logger, signal }: StartDeps,
  step: () => Promise<Result>,
  waits: (why: string) => Promise<void> = async () => {},
): Promise<Result> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (signal.aborted || !mayAnswerLater(error)) throw error;
      logger.warn({ err: error }, "start_waits");
      await waits(retryReason(error));
    }
    await pause(clock, runtimeLimits.startRetryMs, signal);
  }
}

/** Returns a server at the address of a service that has not started. */
export function listenWaiting(
  address: HttpAddress,
  checks: HealthChecks,
  registry: Registry,
): Promise<Listening> {
  const server = createServer((request, response) => {
    const url = request.url ?? "/";
    if (healthPaths.includes(url.split("?")[0] ?? "")) {
      void answerHealth(url, response, checks, registry);
      return;
    }
    const problem = new Problem(503, "unavailable", checks.readiness() ?? "starting");
    response.writeHead(503, problemHeaders(problem)).end(problemText(problem, url));
  });
  return listenHttp(server, address);
}

/** A wrong password, database or schema stays wrong; a server that is away, starts, or is overloaded does not. */
function mayAnswerLater(error: unknown): boolean {
  if (isFault(error)) return error.retry !== "never";
  if (isDatabaseAway(error) || isDatabaseSlow(error)) return true;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(53...|55P03|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/.test(code);
}
