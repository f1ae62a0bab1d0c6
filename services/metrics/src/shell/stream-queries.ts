/** QueryStreamedPoints: subscribers read the stream of an experiment's points. */
import { isTrialId, reject } from "@trainyard/kernel";
import type { FoldCache, CommandTable } from "@trainyard/runtime";
import type { Pool } from "pg";
import { readTail } from "../core/columns/tail.ts";
import type { RunHistory } from "../core/run-history.ts";
import { type StreamItem, streamPage } from "../core/stream-page.ts";
import { metricsLimits } from "../limits.ts";
import { runHistories } from "../streams.ts";
import { noSuchGroup, pointOf } from "./queries.ts";
import { readStream, type StreamEntry } from "./stream-table.ts";

export type StreamQueryDeps = { readonly pool: Pool; readonly cache: FoldCache };

export function streamQueryCommands(deps: StreamQueryDeps) {
  const { pool, cache } = deps;
  return {
    QueryStreamedPoints: async ({ experiment, trial, group, after, limit }) => {
      if (trial !== "" && !isTrialId(trial)) {
        return reject("trial_not_found", `there is no trial ${trial}`);
      }
      if (group.includes("\0")) return noSuchGroup();
      if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0)) {
        return reject("invalid_request", `invalid stream position ${after}`);
      }
      const query = { experiment, trial: trial || null, group: group || null };
      // Without a position the query returns only the stream's head.
      const from = after ?? Number.MAX_SAFE_INTEGER;
      const stream = await readStream(pool, { ...query, after: from });
      const { head, removed } = stream ?? { head: 0, removed: 0 };
      if (after === undefined || stream === null) {
        return (after ?? 0) > 0
          ? gone(experiment, after ?? 0)
          : { items: [], next: head, more: false };
      }
      if (after < removed || after > head || !stream.isKnown) return gone(experiment, after);
      const { pointsPerPageMax, pageBytesMax: bytesMax } = metricsLimits;
      const itemsMax = Math.min(limit || pointsPerPageMax, pointsPerPageMax);
      const page = streamPage(stream.entries.map(opened), { after, itemsMax, bytesMax });
      const more = page.isCut || stream.more;
      const next = more ? (page.items.at(-1)?.position ?? after) : head;
      return { items: await shown(cache, page.items), next, more };
    },
  } satisfies Partial<CommandTable<"metrics">>;
}

function gone(experiment: string, after: number) {
  return reject(
    "position_gone",
    `experiment ${experiment} does not keep its points in order after position ${after} any more: list all points`,
  );
}

const opened = (entry: StreamEntry) =>
  entry.kind === "tail" ? { ...entry, tail: readTail(entry.body) } : entry;

async function shown(cache: FoldCache, items: readonly StreamItem[]) {
  const histories = new Map<string, RunHistory>();
  for (const { trial } of items) {
    if (histories.has(trial)) continue;
    histories.set(trial, (await cache.load(runHistories, trial)).state);
  }
  return items.map((item) => {
    const { position, trial, run } = item;
    if (item.kind === "supersession") {
      return { position, trial, superseded: { run, afterStep: item.afterStep } };
    }
    const report = { ...item.report, run, group: item.group };
    const history = histories.get(trial) ?? { runs: [] };
    return { position, trial, point: pointOf(report, history) };
  });
}
