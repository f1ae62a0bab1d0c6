/** Several metrics that are searched together: the first is the searcher's `metric`, which may then be absent. */
import { isMapping, itemPath, type Json, type JsonObject, keyPath, valueAt } from "../json.ts";
import type { Note } from "../parts/part.ts";
import type { Shape, Values } from "../parts/values.ts";

/** With more objectives, nearly every trial would be the best in some respect. */
const OBJECTIVES_MAX = 8;

export type SearchObjective = { readonly metric: string; readonly smaller_is_better: boolean };

/** The optional key of searchers with several metrics. */
export type SeveralObjectives = { readonly objectives?: SearchObjective[] };

export const objectiveKeys = ({ flag, section, text, z }: Values): Shape => ({
  objectives: z
    .array(
      section({
        metric: text.describe("The name of a validation metric."),
        smaller_is_better: flag.describe("Whether a smaller value of it is better. Default true."),
      }),
    )
    .max(OBJECTIVES_MAX)
    .describe("Several metrics of equal weight; the first is the metric."),
});

/** Fills in the metric and the direction of the first objective if they are absent. */
export function withFirstObjective(searcher: Json): Json {
  if (!isMapping(searcher)) return searcher;
  const [first] = objectivesIn(searcher);
  if (first === undefined || valueAt(searcher, "metric") !== undefined) return searcher;
  return { smaller_is_better: first.smaller_is_better, ...searcher, metric: first.metric };
}

/** Returns the valid objectives. */
function objectivesIn(searcher: JsonObject): SearchObjective[] {
  const objectives = valueAt(searcher, "objectives");
  if (!Array.isArray(objectives)) return [];
  return objectives.flatMap((objective) => {
    const metric = isMapping(objective) ? valueAt(objective, "metric") : undefined;
    if (!isMapping(objective) || typeof metric !== "string") return [];
    return [{ metric, smaller_is_better: valueAt(objective, "smaller_is_better") !== false }];
  });
}

/** Absent if the searcher has only one metric. */
export function readObjectives(searcher: JsonObject): SeveralObjectives {
  const objectives = objectivesIn(searcher);
  return objectives.length === 0 ? {} : { objectives };
}

export function checkObjectives(searcher: JsonObject, note: Note): void {
  const path = "searcher.objectives";
  const objectives = valueAt(searcher, "objectives");
  if (!Array.isArray(objectives)) return;
  if (objectives.length === 0) note(path, "is empty: leave it out to search by the metric alone");
  const seen = new Set<string>();
  for (const [index, objective] of objectives.entries()) {
    if (!isMapping(objective)) continue;
    const metric = valueAt(objective, "metric");
    const at = keyPath(itemPath(path, index), "metric");
    if (metric === undefined) note(at, "is missing: it is the name of the metric");
    if (typeof metric !== "string") continue;
    if (seen.has(metric)) note(at, `is "${metric}", which another objective has`);
    seen.add(metric);
  }
  const [first] = objectivesIn(searcher);
  if (first === undefined) return;
  const metric = valueAt(searcher, "metric");
  if (metric !== undefined && metric !== first.metric) {
    note(
      "searcher.metric",
      `must be the metric of the first objective, "${first.metric}": correct it or leave it out`,
    );
  }
  const smaller = valueAt(searcher, "smaller_is_better");
  if (typeof smaller === "boolean" && smaller !== first.smaller_is_better) {
    note(
      "searcher.smaller_is_better",
      `must be ${first.smaller_is_better}, as in the first objective: correct it or leave it out`,
    );
  }
}
