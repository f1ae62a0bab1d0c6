/** The names of the metrics that trials have reported. */
import { isTrialId, reject } from "@trainyard/kernel";
import { type CommandTable, tableFault } from "@trainyard/runtime";
import type { Pool } from "pg";
import { metricsLimits } from "../limits.ts";

export function nameQueryCommands({ pool }: { readonly pool: Pool }) {
  return {
    QueryMetricNames: async ({ trial, group, prefix, after, limit }) => {
      if (!isTrialId(trial)) return reject("trial_not_found", `there is no trial ${trial}`);
      if (prefix.includes("\0") || group.includes("\0")) return { names: [], next: "" };
      const cursor = after === "" ? null : decodeCursor(after);
      if (after !== "" && cursor === null) {
        return reject("invalid_request", `invalid page token ${after} for metric names`);
      }
      const most = Math.min(limit || metricsLimits.namesPerPageMax, metricsLimits.namesPerPageMax);
      const found = await namesOf(pool, { trial, group, prefix, cursor, limit: most + 1 });
      const names = found.slice(0, most);
      const last = names.at(-1);
      const more = found.length > most && last !== undefined;
      return { names, next: more ? encodeCursor([last.group, last.name, last.kind]) : "" };
    },
    CountMetricNames: async ({ trials, limit }) => {
      const unknown = trials.find((trial) => !isTrialId(trial));
      if (unknown !== undefined) return reject("trial_not_found", `there is no trial ${unknown}`);
      const most = Math.min(limit || metricsLimits.namesPerPageMax, metricsLimits.namesPerPageMax);
      return { counts: await countsOf(pool, trials, most) };
    },
  } satisfies Partial<CommandTable<"metrics">>;
}

type NamesQuery = {
  readonly trial: string;
  readonly group: string;
  readonly prefix: string;
  readonly cursor: NameCursor | null;
  readonly limit: number;
};

type NameCursor = readonly [group: string, name: string, kind: string];
type NameRow = { readonly group: string; readonly name: string; readonly kind: string };

async function namesOf(
  pool: Pool,
  { trial, group, prefix, cursor, limit }: NamesQuery,
): Promise<readonly NameRow[]> {
  const [afterGroup, afterName, afterKind] = cursor ?? [null, null, null];
  try {
    const { rows } = await pool.query<NameRow>({
      name: "metric-names",
      text: `select group_name as "group", name, kind from metrics.names
             where trial = $1 and ($2 = '' or group_name = $2) and starts_with(name, $3)
               and ($4::text is null or (group_name, name, kind) > ($4, $5::text, $6::text))
             order by group_name, name, kind limit $7`,
      values: [trial, group, prefix, afterGroup, afterName, afterKind, limit],
    });
    return rows;
  } catch (cause) {
    throw tableFault(cause, "points_unavailable", "the table of metric names");
  }
}

type CountRow = { readonly group: string; readonly name: string; readonly trials: number };

async function countsOf(pool: Pool, trials: readonly string[], limit: number): Promise<CountRow[]> {
  try {
    const { rows } = await pool.query<CountRow>({
      name: "metric-name-counts",
      text: `select group_name as "group", name, count(*)::integer as trials from metrics.names
             where trial = any($1) and kind = 'scalar'
             group by group_name, name order by count(*) desc, group_name, name limit $2`,
      values: [[...new Set(trials)], limit],
    });
    return rows;
  } catch (cause) {
    throw tableFault(cause, "points_unavailable", "the table of metric names");
  }
}

const encodeCursor = (cursor: NameCursor): string =>
  Buffer.from(JSON.stringify(cursor)).toString("base64url");

/** Returns null for a text that is not a cursor of this service. */
function decodeCursor(text: string): NameCursor | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    const isCursor =
      Array.isArray(value) &&
      value.length === 3 &&
      value.every((part) => typeof part === "string" && !part.includes("\0"));
    return isCursor ? (value as unknown as NameCursor) : null;
  } catch {
    // The text is not base64url of JSON.
    return null;
  }
}
