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
    if (resources === undefined || !isJob(job)) return;
    const { pool, slots, priority, weight, maxSlots = 0 } = resources;
    changeInPool(documents, pool, job, ({ first = position }) => ({ first }));
    changeJob(documents, job, (doc) => {
      const arrival = hasRuns(doc) ? doc.asked.arrival : position;
      return { ...doc, pool, workspace, owner, asked: { priority, weight, maxSlots, arrival } };
    });
    changeRun(documents, id, { arrival: position, slots, placed: false, held: 0, borrowed: 0 });
  },
  AllocationGranted({ id, data }, documents) {
    const run = documents.get("jobRun", id);
    if (run === undefined) return;
    const held = data.placements.reduce((sum, { slots }) => sum + slots.length, 0);
    changeRun(documents, id, { ...run, placed: true, held, borrowed: data.borrowed ?? 0 });
  },
  AllocationEnded: ({ id }, documents) => changeRun(documents, id, null),
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

/** Changes a run of a job, or removes it, and counts it. */
function changeRun(documents: DocumentSet, allocation: string, run: QueuedRun | null): void {
  const job = jobOfRun(allocation);
  const before = documents.get("jobRun", allocation) ?? null;
  if (job === null || (before === null && run === null)) return;
  const key = { kind: "jobRun", id: allocation } as const;
  if (run === null) documents.remove(key);
  else documents.put({ ...key, parent: job, ordinal: run.arrival, doc: run });
  if (documents.get("job", job) === undefined) return;
  const [less, more] = [countsOf(before), countsOf(run)];
  changeJob(documents, job, (doc) => ({
    ...doc,
    runsWaiting: doc.runsWaiting - less.runsWaiting + more.runsWaiting,
    runsPlaced: doc.runsPlaced - less.runsPlaced + more.runsPlaced,
    slotsHeld: doc.slotsHeld - less.slotsHeld + more.slotsHeld,
    slotsWanted: doc.slotsWanted - less.slotsWanted + more.slotsWanted,
    slotsBorrowed: doc.slotsBorrowed - less.slotsBorrowed + more.slotsBorrowed,
  }));
}

const noCounts = {
  runsWaiting: 0,
  runsPlaced: 0,
  slotsHeld: 0,
  slotsWanted: 0,
  slotsBorrowed: 0,
};

/** Returns what a run adds to its job. */
function countsOf(run: QueuedRun | null): typeof noCounts {
  if (run === null) return noCounts;
  const { slots, placed, held, borrowed } = run;
  return placed
    ? { ...noCounts, runsPlaced: 1, slotsHeld: held, slotsBorrowed: borrowed }
    : { ...noCounts, runsWaiting: 1, slotsWanted: slots };
}

const isJob = (id: string): boolean => isExperimentId(id) || isTaskId(id);

const hasRuns = ({ runsWaiting, runsPlaced }: JobDocument): boolean => runsWaiting + runsPlaced > 0;

/** Changes a job, and removes it once it has neither runs nor changes. */
function changeJob(
  documents: DocumentSet,
  id: string,
  change: (doc: JobDocument) => JobDocument,
): void {
  if (!isJob(id)) return;
  const doc = shownOf(change(documents.get("job", id) ?? nothing(id)));
  if (!hasRuns(doc) && doc.change === null) {
    documents.remove({ kind: "job", id });
    return;
  }
  const ordinal = isTaskId(id) ? taskNumber(id) : Number(id);
  documents.put({ kind: "job", id, parent: "", ordinal, doc });
}

const nothing = (job: string): JobDocument => ({
  ...{ job, pool: "", workspace: "", owner: "", priority: 0, weight: 0, maxSlots: 0 },
  ...noCounts,
  queue: "",
  asked: { priority: 0, weight: 0, maxSlots: 0, arrival: 0 },
  change: null,
});

/** Returns the job with what its last queued run asks for, and what people have set instead. */
function shownOf(doc: JobDocument): JobDocument {
  const { priority, weight, maxSlots } = { ...doc.asked, ...doc.change };
  return { ...doc, priority, weight, maxSlots, queue: queueKey({ ...doc, priority }) };
}

/** The length of a pool's name in a key; real names are far shorter. */
const poolCharacters = 128;

/**
 * Returns a key whose text order is the queue order, pool by pool: jobs with a waiting run first, then by priority and
 * place. A job without runs has none.
 */
function queueKey(doc: JobDocument): string {
  if (!hasRuns(doc)) return "";
  const { pool, priority, change, asked, runsWaiting } = doc;
  const { first = asked.arrival, place = first } = change ?? {};
  const digits = (value: number): string => String(value).padStart(16, "0");
  const parts = [digits(priority), sortable(place), digits(asked.arrival)];
  const waits = runsWaiting > 0 ? "0" : "1";
  return [pool.slice(0, poolCharacters), waits, ...parts].join("\u0001");
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
