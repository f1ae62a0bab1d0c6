import {
  PointPageSchema,
  ProgressSchema,
  QueryPointsSchema,
  QueryProgressSchema,
} from "@trainyard/contracts/commands";
import { isTrialId, reject } from "@trainyard/kernel";
import { type CommandSpec, command, type FoldCache, type LogFollower } from "@trainyard/runtime";
import { lastStepThatCounts, type RunHistory } from "../core/run-history.ts";
import { type JsonObject, valuesOf } from "../core/values.ts";
import { metricsLimits } from "../limits.ts";
import { runHistoryFold } from "../streams.ts";
import type { PointCursor, PointRow, PointTable } from "./point-table.ts";

export type QueryDeps = {
  readonly table: PointTable;
  readonly cache: FoldCache;
  readonly follower: LogFollower;
};

export function queryCommands(deps: QueryDeps): Readonly<Record<string, CommandSpec>> {
  return {
    QueryPoints: command(
      QueryPointsSchema,
      PointPageSchema,
      async ({ trial, group, superseded, after, limit }) => {
        if (!isTrialId(trial)) return reject("trial_not_found", `there is no trial ${trial}`);
        const cursor = after === "" ? null : decodeCursor(after);
        if (after !== "" && cursor === null) {
          return reject("invalid_request", `${after} is not a page token of points`);
        }
        const { position } = deps.follower;
        const { state: history } = await deps.cache.load(runHistoryFold, trial);
        const { rows, more } = await deps.table.select({
          trial,
          group: group === "" ? null : group,
          after: cursor,
          limit: Math.min(limit || metricsLimits.pointsPerPageMax, metricsLimits.pointsPerPageMax),
          lastSteps: superseded ? [] : lastSteps(history),
        });
        const last = rows.at(-1);
        return {
          points: rows.map((row) => pointOf(row, history)),
          next: more && last !== undefined ? encodeCursor(last) : "",
          position,
        };
      },
    ),
    QueryProgress: command(QueryProgressSchema, ProgressSchema, async ({ trial }) => {
      if (!isTrialId(trial)) return reject("trial_not_found", `there is no trial ${trial}`);
      const metricsText = await deps.table.newest(trial, "progress");
      if (metricsText === null) return {};
      const { progress } = valuesOf(JSON.parse(metricsText) as JsonObject).scalars;
      return progress === undefined ? {} : { fraction: progress };
    }),
  };
}

function lastSteps(
  history: RunHistory,
): readonly { readonly run: number; readonly lastStep: number }[] {
  return history.runs
    .map(({ run }) => ({ run, lastStep: lastStepThatCounts(history, run) }))
    .filter(({ lastStep }) => Number.isFinite(lastStep));
}

function pointOf(row: PointRow, history: RunHistory) {
  const { scalars, others } = valuesOf(JSON.parse(row.metricsText) as JsonObject);
  return {
    run: row.run,
    group: row.group,
    stepsCompleted: row.step,
    atMs: row.atMs,
    scalars,
    others,
    superseded: row.step > lastStepThatCounts(history, row.run),
  };
}

export function encodeCursor({ run, step, key }: PointCursor): string {
  return Buffer.from(JSON.stringify([run, step, key])).toString("base64url");
}

/** Null for what this service never gave out. */
export function decodeCursor(text: string): PointCursor | null {
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
    // Not base64url of JSON.
    return null;
  }
}
