/** Handles a run's reports for both HTTP and gRPC: authorizes, validates and stores them. */
import type { KeyObject } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import type { WriteReportsResponse } from "@trainyard/contracts/api";
import { isRejection, parseRunId, parseTaskRunId, type RunParts } from "@trainyard/kernel";
import {
  during,
  type LogFollower,
  noTracer,
  Problem,
  type RunGrants,
  type RunTokenContent,
  readRunToken,
  type Tracer,
} from "@trainyard/runtime";
import { parseReports, type Refused } from "../core/reports.ts";
import { metricsLimits } from "../limits.ts";
import type { Ingest } from "./ingest.ts";

/** The run that a token authorizes. */
export type Reporter = {
  readonly run: RunParts;
  readonly id: string;
  readonly grant: RunTokenContent;
};

export type Outcome = {
  readonly stored: number;
  readonly superseded: number;
  readonly refused: readonly Refused[];
};

export class ReportRequests {
  readonly #ingest: Ingest;
  readonly #follower: LogFollower;
  readonly #grants: RunGrants;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #tracer: Tracer;

  constructor(deps: {
    readonly ingest: Ingest;
    readonly follower: LogFollower;
    readonly grants: RunGrants;
    readonly runTokenKeys: ReadonlyMap<string, KeyObject>;
    readonly tracer?: Tracer;
  }) {
    this.#ingest = deps.ingest;
    this.#follower = deps.follower;
    this.#grants = deps.grants;
    this.#keys = deps.runTokenKeys;
    this.#tracer = deps.tracer ?? noTracer;
  }

  /** Throws Problem for anything but a valid token of a trial's run. */
  authorize(authorization: string | undefined): Reporter {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined) {
      const detail = "send the run's token in the header Authorization: Bearer …";
      throw new Problem(401, "no_token", detail);
    }
    const content = readRunToken(this.#keys, token);
    if (parseTaskRunId(content?.allocation ?? "") !== null) {
      const detail = `${content?.allocation} is a run of a task, and only runs of trials report metrics`;
      throw new Problem(403, "not_of_a_trial", detail);
    }
    const run = content === null ? null : parseRunId(content.allocation);
    if (content === null || run === null) {
      throw new Problem(401, "invalid_token", "invalid run token");
    }
    return { run, id: content.allocation, grant: content };
  }

  /**
   * Stores the reports of a request in proto JSON. Resolves after the commit. Throws Problem for a request that is
   * invalid as a whole, and for a run of a history that the log has lost.
   *
   * A report begins a trace, linked to the run that the caller's traceparent names, so that no trace grows with an
   * experiment.
   */
  async take(reporter: Reporter, body: unknown, traceparent = ""): Promise<Outcome> {
    const attributes = { "trainyard.run": reporter.id };
    const span = this.#tracer.begin("report", "", {
      ...{ kind: "server", attributes, links: [traceparent] },
    });
    return during(
      span,
      () => this.#take(reporter, body, span.traceparent),
      ({ stored }) => ({ "trainyard.reports": stored }),
    );
  }

  async #take({ run, id, grant }: Reporter, body: unknown, traceparent: string): Promise<Outcome> {
    const parsed = parseReports(body, metricsLimits);
    if (isRejection(parsed)) {
      const status = parsed.rejected === "too_many_reports" ? 413 : 400;
      throw new Problem(status, parsed.rejected, parsed.detail, parsed);
    }
    await this.#follower.reach(grant.grantPosition, metricsLimits.grantWaitMs);
    await this.#grants.require(grant);
    const taken = await this.#ingest.take(run, grant, parsed.reports, traceparent);
    if (taken.kind === "unknown_run") {
      throw new Problem(404, "run_not_found", `there is no run ${id}`);
    }
    return { stored: taken.stored, superseded: taken.refused, refused: parsed.refused };
  }
}

/** Throws Problem unless the token belongs to the requested run. */
export function requireRun({ id }: Reporter, asked: string): void {
  if (id === asked) return;
  throw new Problem(403, "not_your_run", `this token is run ${id}'s, not run ${asked}'s`);
}

/** Takes all reports as one request; throws 409 if a later run supersedes some of them. */
export async function takeAll(
  reportRequests: ReportRequests,
  reporter: Reporter,
  body: unknown,
  traceparent: string | undefined,
): Promise<Plain<WriteReportsResponse>> {
  const { stored, superseded, refused } = await reportRequests.take(reporter, body, traceparent);
  if (superseded > 0) {
    const rest = stored === 0 ? "" : `; the other ${stored} were stored`;
    const detail = `a later run of trial ${reporter.run.trial} supersedes ${superseded} of these reports${rest}`;
    throw new Problem(409, "run_superseded", detail);
  }
  return { accepted: stored, refused: [...refused] };
}
