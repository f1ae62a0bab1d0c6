/**
 * Jobs: experiments and tasks in the queues of the pools. The scheduler computes the same numbers from the same events:
 * the place of a job in a pool is the position at which its first run was queued, until the job ends. What people set
 * lasts until the experiment or task is deleted or its pool is removed.
 */
import { isExperimentId, isTaskId } from "@trainyard/kernel";
import type { DocumentSet, JobDocument, QueuedRun } from "./documents.ts";
import { taskNumber } from "./project-task.ts";
import type { Projections } from "./projections.ts";
import { jobOfRun } from "./touched.ts";

export const jobProjections: Projections = {
  AllocationQueued({ id, data, position }, documents) {
    const { job, resources, workspace, owner } = data;
    if (resources === undefined) return;
    const { pool, slots, priority, weight, maxSlots = 0 } = resources;
    const queued = { id, pool, workspace, owner, slots, priority, weight, maxSlots };
    const run = { ...queued, arrival: position, placed: false, held: 0, borrowed: 0 };
    changeInPool(documents, pool, job, ({ first = position }) => ({ first }));
    changeJob(documents, job, (doc) => ({ ...doc, runs: [...doc.runs, run] }));
  },
  AllocationGranted({ id, data }, documents) {
    const held = data.placements.reduce((sum, { slots }) => sum + slots.length, 0);
    const { borrowed = 0 } = data;
    changeRuns(documents, id, (runs) =>
      runs.map((run) => (run.id === id ? { ...run, placed: true, held, borrowed } : run)),
    );
  },
  AllocationEnded({ id }, documents) {
    changeRuns(documents, id, (runs) => runs.filter((run) => run.id !== id));
  },
  JobUpdated({ id: pool, data }, documents) {
    const { priority, weight, maxSlots } = data;
    changeInPool(documents, pool, data.job, () => ({
      ...(priority === undefined ? {} : { priority }),
      ...(weight === undefined ? {} : { weight }),
      ...(maxSlots === undefined ? {} : { maxSlots }),
    }));
  },
  JobMoved({ id: pool, data }, documents) {
    changeInPool(documents, pool, data.job, () => ({ place: data.place }));
  },
  PoolRemoved({ id }, documents) {
    const doc = { removals: removalsOf(documents, id) + 1 };
    documents.put({ kind: "pool", id, parent: "", ordinal: 0, doc });
  },
  ExperimentEnded: ({ id }, documents) => ended(documents, id),
  ExperimentDeleted: ({ id }, documents) => deleted(documents, id),
  TaskEnded: ({ id }, documents) => ended(documents, id),
  TaskDeleted: ({ id }, documents) => deleted(documents, id),
};

function ended(documents: DocumentSet, id: string): void {
  if (documents.get("job", id) === undefined) return;
  changeJob(documents, id, (doc) => ({ ...doc, change: withoutFirst(doc.change) }));
}

function deleted(documents: DocumentSet, id: string): void {
  if (documents.get("job", id) === undefined) return;
  changeJob(documents, id, (doc) => ({ ...doc, change: null }));
}

type Change = NonNullable<JobDocument["change"]>;

/** Returns what people have set of the job; null for nothing. */
function withoutFirst(change: JobDocument["change"]): JobDocument["change"] {
  if (change === null) return null;
  const { first: _first, pool, removals, ...set } = change;
  return Object.keys(set).length === 0 ? null : { pool, removals, ...set };
}

const removalsOf = (documents: DocumentSet, pool: string): number =>
  documents.get("pool", pool)?.removals ?? 0;

/** Whether a user's change applies to this pool, and not to a removed pool of the same name. */
function isOfPool(documents: DocumentSet, { change }: JobDocument, pool: string): boolean {
  return change?.pool === pool && change.removals === removalsOf(documents, pool);
}

function changeInPool(
  documents: DocumentSet,
  pool: string,
  job: string,
  change: (before: Partial<Change>) => Omit<Change, "pool" | "removals">,
): void {
  const removals = removalsOf(documents, pool);
  changeJob(documents, job, (doc) => {
    const before = isOfPool(documents, doc, pool) ? doc.change : null;
    return { ...doc, change: { ...before, ...change(before ?? {}), pool, removals } };
  });
}

function changeRuns(
  documents: DocumentSet,
  allocation: string,
  change: (runs: readonly QueuedRun[]) => readonly QueuedRun[],
): void {
  const job = jobOfRun(allocation);
  if (job === null || documents.get("job", job) === undefined) return;
  changeJob(documents, job, (doc) => ({ ...doc, runs: change(doc.runs) }));
}

/** Changes a job, and removes it once it has neither runs nor changes. */
function changeJob(
  documents: DocumentSet,
  id: string,
  change: (doc: JobDocument) => JobDocument,
): void {
  if (!isExperimentId(id) && !isTaskId(id)) return;
  const { runs, change: changed } = change(documents.get("job", id) ?? nothing(id));
  if (runs.length === 0 && changed === null) {
    documents.remove({ kind: "job", id });
    return;
  }
  const doc = { ...shownOf(id, runs, changed), runs, change: changed };
  const ordinal = isTaskId(id) ? taskNumber(id) : Number(id);
  documents.put({ kind: "job", id, parent: "", ordinal, doc });
}

type Shown = Omit<JobDocument, "runs" | "change">;

const nothing = (job: string): JobDocument => ({
  ...shownOf(job, [], null),
  runs: [],
  change: null,
});

function shownOf(job: string, runs: readonly QueuedRun[], change: JobDocument["change"]): Shown {
  const changed = runs.map((run) => withChange(run, change));
  const [first] = changed.toSorted(inQueue);
  const waiting = runs.filter(({ placed }) => !placed);
  const placed = runs.filter((run) => run.placed);
  const sum = (of: readonly QueuedRun[], number: (run: QueuedRun) => number): number =>
    of.reduce((total, run) => total + number(run), 0);
  return {
    job,
    pool: first?.pool ?? "",
    workspace: first?.workspace ?? "",
    owner: first?.owner ?? "",
    priority: first?.priority ?? 0,
    weight: first?.weight ?? 0,
    maxSlots: first?.maxSlots ?? 0,
    runsWaiting: waiting.length,
    runsPlaced: placed.length,
    slotsHeld: sum(placed, ({ held }) => held),
    slotsWanted: sum(waiting, ({ slots }) => slots),
    slotsBorrowed: sum(placed, ({ borrowed }) => borrowed),
    queue: first === undefined ? "" : queueKey(first),
  };
}

type PlacedRun = QueuedRun & { readonly place: number };

function withChange(run: QueuedRun, change: JobDocument["change"]): PlacedRun {
  const { pool: _pool, removals: _removals, first = run.arrival, ...set } = change ?? {};
  return { ...run, place: first, ...set };
}

/** The order of a queue: waiting runs first, then by priority, then by place. */
function inQueue(a: PlacedRun, b: PlacedRun): number {
  return (
    Number(a.placed) - Number(b.placed) ||
    a.priority - b.priority ||
    a.place - b.place ||
    a.arrival - b.arrival
  );
}

/** The length of a pool's name in a key; real names are far shorter. */
const poolCharacters = 128;

/** Returns a key whose text order is the queue order, pool by pool. */
function queueKey({ pool, placed, priority, place, arrival }: PlacedRun): string {
  const digits = (value: number): string => String(value).padStart(16, "0");
  const parts = [placed ? "1" : "0", digits(priority), sortable(place), digits(arrival)];
  return [pool.slice(0, poolCharacters), ...parts].join("\u0001");
}

/** Returns 16 digits whose text order is the order of the numbers. */
function sortable(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const isNegative = bits >> 63n === 1n;
  const ordered = isNegative ? BigInt.asUintN(64, ~bits) : bits | (1n << 63n);
  return ordered.toString(16).padStart(16, "0");
}
