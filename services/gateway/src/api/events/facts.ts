/**
 * The facts of experiments and tasks that filters ask for. The read model has no row of an experiment or task that was
 * deleted for good: its stream then says what it was last, since its last events may still have to be delivered.
 */
import { isExperimentId, isTaskId } from "@trainyard/kernel";
import {
  type ExperimentFacts,
  type Filter,
  type LeavingEvent,
  needsFacts,
} from "@trainyard/outbound";
import type { Backend } from "../../backend.ts";
import { lastFactsOf } from "../../streams.ts";
import { placeOf } from "../shown.ts";

/** Returns the facts by id, as of the last event or later; none if the filter does not ask for any. */
export async function factsOf(
  backend: Backend,
  filter: Filter,
  events: readonly LeavingEvent[],
): Promise<ReadonlyMap<string, ExperimentFacts>> {
  const last = events.at(-1);
  if (!needsFacts(filter) || last === undefined) return new Map();
  await backend.reach(last.stored.position);
  const { documents, pool, executor } = backend.parts;
  const ids = [...new Set(events.map(({ experiment }) => experiment))];
  const keys = [
    ...ids.filter(isExperimentId).map((id) => ({ kind: "experiment", id }) as const),
    ...ids.filter(isTaskId).map((id) => ({ kind: "task", id }) as const),
  ];
  const facts = new Map<string, ExperimentFacts>();
  for (const { kind, id, doc } of await documents.fetch(pool, keys)) {
    if (kind === "task") facts.set(id, { workspace: doc.workspace, labels: [] });
    if (kind === "experiment") facts.set(id, factsIn(doc));
  }
  for (const { kind, id } of keys) {
    if (facts.has(id)) continue;
    const { state } = await executor.cache.load(lastFactsOf[kind], id);
    if (state !== null) facts.set(id, factsIn(state));
  }
  return facts;
}

type Placed = Parameters<typeof placeOf>[0] & Pick<ExperimentFacts, "labels">;

const factsIn = (placed: Placed): ExperimentFacts => ({
  workspace: placeOf(placed).workspace,
  labels: placed.labels,
});
