import type { Plain } from "@trainyard/contracts";
import type { Pace, SystemTotal } from "@trainyard/contracts/commands";
import { isTrialId, reject } from "@trainyard/kernel";
import type { CommandTable } from "@trainyard/runtime";
import type { Extent } from "../core/writes.ts";
import { metricsLimits } from "../limits.ts";
import type { PointStore } from "./point-store.ts";
import { noSuchGroup } from "./queries.ts";
import type { SystemCursor, SystemTable, TotalCursor } from "./system-table.ts";

type RunExtent = Extent & { readonly run: number };

export type SystemQueryDeps = {
  readonly store: PointStore;
  readonly system: SystemTable;
};

export function systemQueryCommands({ store, system }: SystemQueryDeps) {
  return {
    QuerySystemPoints: async ({ trial, group, after, limit }) => {
      if (!isTrialId(trial)) return reject("trial_not_found", `there is no trial ${trial}`);
      if (group.includes("\0")) return noSuchGroup();
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
    QueryProfile: async ({ trial, run: asked, after, limit }) => {
      if (!isTrialId(trial)) return reject("trial_not_found", `there is no trial ${trial}`);
      const cursor = after === "" ? null : decodeTotalCursor(after);
      if (after !== "" && cursor === null) {
        return reject("invalid_request", `invalid page token ${after} for a profile`);
      }
      const { profileTotalsPerPageMax, profiledRunsMax } = metricsLimits;
      const runs = await system.runs(trial, profiledRunsMax);
      const run = asked === 0 ? (runs.at(-1) ?? 0) : asked;
      const most = Math.min(limit || profileTotalsPerPageMax, profileTotalsPerPageMax);
      const [found, extents] = await Promise.all([
        system.totals({ trial, run, after: cursor, limit: most + 1 }),
        store.training(trial, run),
      ]);
      const pace = extents.map(paceOf).find(isPace);
      const totals = found.slice(0, most);
      const last = totals.at(-1);
      const next = found.length > most && last !== undefined ? encodeTotalCursor(last) : "";
      return { run, runs, totals, next, ...(pace === undefined ? {} : { pace }) };
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

function encodeTotalCursor({ node, group, device, value }: Plain<SystemTotal>): string {
  const place = [node, group, device, value?.name ?? ""];
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** Returns null for a text that is not a cursor of this service. */
function decodeTotalCursor(text: string): TotalCursor | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (!Array.isArray(value) || value.length !== 4) return null;
    const [node, ...texts] = value as readonly unknown[];
    const isText = (one: unknown): one is string => typeof one === "string" && !one.includes("\0");
    const [group, device, name] = texts.filter(isText);
    if (!Number.isSafeInteger(node) || name === undefined) return null;
    return { node: Number(node), group: group ?? "", device: device ?? "", name };
  } catch {
    // The text is not base64url of JSON.
    return null;
  }
}
