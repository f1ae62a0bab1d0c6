/**
 * The facts of experiments and tasks that filters and rights ask for. The read model has no row of an experiment or
 * task that was deleted for good: its stream then says what it was last, since its last events may still have to be
 * delivered.
 */
import type { Rights } from "@trainyard/access";
import { isExperimentId, isTaskId } from "@trainyard/kernel";
import {
  type ExperimentFacts,
  type Filter,
  type KnownObjects,
  type LeavingEvent,
  needsFacts,
  objectsOf,
  readObjects,
  readsAll,
} from "@trainyard/outbound";
import type { Backend } from "../../backend.ts";
import { lastFactsOf } from "../../streams.ts";
import { placeOf } from "../shown.ts";

export type EventFacts = {
  /** The facts of experiments and tasks by id. */
  readonly jobs: ReadonlyMap<string, ExperimentFacts>;
  readonly objects: KnownObjects;
};

/**
 * Returns what a filter and the caller's rights ask for about events, as of the last event or later; nothing if the
 * caller may read everything and the filter does not ask.
 */
export async function factsOf(
  backend: Backend,
  { filter, rights }: { readonly filter: Filter | null; readonly rights: Rights },
  events: readonly LeavingEvent[],
): Promise<EventFacts> {
  const last = events.at(-1);
  const isAll = readsAll(rights);
  if (last === undefined || (isAll && (filter === null || !needsFacts(filter)))) return noFacts;
  await backend.reach(Math.max(...events.map(({ stored }) => stored.position)));
  const jobs = await jobFacts(backend, new Set(events.map(({ experiment }) => experiment)));
  if (isAll) return { jobs, objects: noFacts.objects };
  return { jobs, objects: await knownObjects(backend, events.flatMap(objectsOf), jobs) };
}

/** Returns where objects are now; `jobs` are those experiments and tasks among them that are known already. */
export function knownObjects(
  backend: Backend,
  objects: readonly string[],
  jobs: EventFacts["jobs"] = noFacts.jobs,
): Promise<KnownObjects> {
  const { cache } = backend.parts.executor;
  const read = async (ids: readonly string[]): Promise<EventFacts["jobs"]> => {
    const others = ids.filter((id) => !jobs.has(id));
    return others.length === 0 ? jobs : new Map([...jobs, ...(await jobFacts(backend, others))]);
  };
  return readObjects({ cache, jobs: read }, objects);
}

const noFacts: EventFacts = { jobs: new Map(), objects: new Map() };

async function jobFacts(
  backend: Backend,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, ExperimentFacts>> {
  const { documents, pool, executor } = backend.parts;
  const all = [...ids];
  const keys = [
    ...all.filter(isExperimentId).map((id) => ({ kind: "experiment", id }) as const),
    ...all.filter(isTaskId).map((id) => ({ kind: "task", id }) as const),
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
