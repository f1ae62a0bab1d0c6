import { isTrialId, type Rejection, reject } from "@trainyard/kernel";
import type { CommandTable, FoldCache, LogFollower } from "@trainyard/runtime";
import type { Pool } from "pg";
import { lastStepThatCounts, type RunHistory } from "../core/run-history.ts";
import { valuesOf } from "../core/values.ts";
import { metricsLimits } from "../limits.ts";
import { runHistories } from "../streams.ts";
import { type Cursor, readReports } from "./report-pages.ts";
import type { PartReport } from "./stored-parts.ts";

export type QueryDeps = {
  readonly pool: Pool;
  readonly cache: FoldCache;
  readonly follower: LogFollower;
};

export function queryCommands(deps: QueryDeps) {
  return {
    QueryPoints: async ({ trial, group, superseded, after, limit }, { throwIfLate }) => {
      if (!isTrialId(trial)) return reject("trial_not_found", `there is no trial ${trial}`);
      if (group.includes("\0")) return noSuchGroup();
      const cursor = after === "" ? null : decodeCursor(after);
      if (after !== "" && cursor === null) {
        return reject("invalid_request", `invalid page token ${after} for points`);
      }
      const { position } = deps.follower;
      const { state: history } = await deps.cache.load(runHistories, trial);
      const { reports, more, streamPosition } = await readReports(deps.pool, {
        trial,
        group: group === "" ? null : group,
        after: cursor,
        limit: Math.min(limit || metricsLimits.pointsPerPageMax, metricsLimits.pointsPerPageMax),
        lastStep: (run) =>
          superseded ? Number.POSITIVE_INFINITY : lastStepThatCounts(history, run),
        throwIfLate,
      });
      const last = reports.at(-1);
      return {
        points: reports.map((report) => pointOf(report, history)),
        next: more && last !== undefined ? encodeCursor(last) : "",
        position,
        streamPosition,
      };
    },
  } satisfies Partial<CommandTable<"metrics">>;
}

/** The rejection of a group with U+0000: PostgreSQL stores it in no text, and refuses to look for it. */
export function noSuchGroup(): Rejection {
  return reject("invalid_request", "no group has U+0000 in its name");
}

export function pointOf(report: PartReport, history: RunHistory) {
  const { scalars, others } = valuesOf(report.metrics);
  return {
    run: report.run,
    group: report.group,
    stepsCompleted: report.step,
    atMs: report.atMs,
    scalars,
    others,
    superseded: report.step > lastStepThatCounts(history, report.run),
    key: report.key,
  };
}

export function encodeCursor({ run, step, key }: Cursor): string {
  return Buffer.from(JSON.stringify([run, step, key])).toString("base64url");
}

/** Returns null for a text that is not a cursor of this service. */
export function decodeCursor(text: string): Cursor | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (!Array.isArray(value) || value.length !== 3) return null;
    const [run, step, key] = value as readonly unknown[];
    const whole = typeof run === "number" && Number.isInteger(run) && Math.abs(run) < 2 ** 31;
    if (!whole || typeof step !== "number" || typeof key !== "string" || key.includes("\0")) {
      return null;
    }
    return { run, step, key };
  } catch {
    // The text is not base64url of JSON.
    return null;
  }
}
