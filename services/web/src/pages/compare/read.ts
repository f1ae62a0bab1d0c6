/** The read of a comparison, which the route begins while the page's code is loaded. */
import type { Topic } from "../../data/live/protocol.ts";
import { experimentOf, isSource, readSources } from "./sources.ts";

/** The experiments of a comparison may change all the time, and each read computes all of its trials. */
const readAgainMs = 5_000;

export function comparisonRead(of: string | undefined) {
  const sources = readSources(of);
  const live = { watch: topicOf(sources), readAgainMs };
  return { sources, request: { sources: [...sources] }, live };
}

/**
 * One topic for all experiments: those between the first and the last. Changes of others there are ignored, and a
 * filter of a hundred ids would be refused.
 */
function topicOf(sources: readonly string[]): Topic | undefined {
  const ids = sources.filter(isSource).map((source) => Number(experimentOf(source)));
  if (ids.length === 0) return undefined;
  const filter = `id >= ${Math.min(...ids)} and id <= ${Math.max(...ids)}`;
  return { kind: "experiments", filter, archived: true };
}
