import type { Plain } from "@trainyard/contracts";
import type { Pace } from "@trainyard/contracts/commands";
import { isTrialId, reject } from "@trainyard/kernel";
import type { CommandTable } from "@trainyard/runtime";
import type { Extent } from "../core/writes.ts";
import { metricsLimits } from "../limits.ts";
import type { PointStore } from "./point-store.ts";
import type { SystemCursor, SystemTable } from "./system-table.ts";

type RunExtent = Extent & { readonly run: number };

export type SystemQueryDeps = {
  readonly store: PointStore;
  readonly system: SystemTable;
};

export function systemQueryCommands({ store, system }: SystemQueryDeps) {
  return {
    QuerySystemPoints: async ({ trial, group, after, limit }) => {
      if (!isTrialId(trial)) return reject("trial_not_found", `there is no trial ${trial}`);
      const cursor = after === "" ? null : decodeSystemCursor(after);
      if (after !== "" && cursor === null) {
        return reject("invalid_request", `invalid page token ${after} for system points`);
      }
      const { systemPointsPerPageMax } = metricsLimits;
      const most = Math.min(limit || systemPointsPerPageMax, systemPointsPerPageMax);
      const found = await system.select({
        trial,
        group: group === "" ? null : group,
        after: cursor,
        limit: most + 1,
      });
      const rows = found.slice(0, most);
      const last = rows.at(-1);
      return {
        points: rows.map((row) => ({
          run: row.run,
          group: row.group,
          atMs: row.atMs,
          stepsCompleted: row.step,
          sample: row.system,
        })),
        next: found.length > most && last !== undefined ? encodeSystemCursor(last) : "",
      };
    },
    QueryProfile: async ({ trial }) => {
      if (!isTrialId(trial)) return reject("trial_not_found", `there is no trial ${trial}`);
      const [totals, extents] = await Promise.all([system.totals(trial), store.training(trial)]);
      return { totals, paces: extents.map(paceOf).filter(isPace) };
    },
  } satisfies Partial<CommandTable<"metrics">>;
}

const paceOf = ({ run, firstStep, lastStep, firstAtMs, lastAtMs }: RunExtent): Plain<Pace> => ({
  run,
  steps: lastStep - firstStep,
  seconds: (lastAtMs - firstAtMs) / 1_000,
});

/** A single report, or reports of one step or time, have no pace. */
const isPace = ({ steps, seconds }: Plain<Pace>): boolean => steps > 0 && seconds > 0;

export function encodeSystemCursor({ atMs, run, key }: SystemCursor): string {
  return Buffer.from(JSON.stringify([atMs, run, key])).toString("base64url");
}

/** Returns null for a text that is not a cursor of this service. */
export function decodeSystemCursor(text: string): SystemCursor | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (!Array.isArray(value) || value.length !== 3) return null;
    const [atMs, run, key] = value as readonly unknown[];
    const whole = typeof run === "number" && Number.isInteger(run) && Math.abs(run) < 2 ** 31;
    if (!whole || typeof atMs !== "number" || typeof key !== "string" || key.includes("\0")) {
      return null;
    }
    return { atMs, run, key };
  } catch {
    // The text is not base64url of JSON.
    return null;
  }
}
