import type { AnyEvent, EventData } from "@trainyard/contracts";
import {
  categoryOf,
  idOf,
  parseRunId,
  parseTaskRunId,
  parseTrialId,
  trialId,
} from "@trainyard/kernel";
import {
  type DocumentKey,
  type DocumentRow,
  DocumentSet,
  keyText,
  validationKey,
  versionKey,
} from "./documents.ts";
import { runsOn } from "./project-agent.ts";
import { remaining } from "./validations.ts";

type Streamed = { readonly stream: string; readonly event: AnyEvent };
type Fetch = (keys: readonly DocumentKey[]) => Promise<readonly DocumentRow[]>;

/** Returns the documents that a page's projections may read or write; they are fetched in two rounds. */
export async function fetchTouched(
  events: readonly Streamed[],
  fetch: Fetch,
): Promise<DocumentSet> {
  const first = events.flatMap(({ stream, event }) => touchedBy(stream, event));
  const keys = new Map(first.map((key) => [keyText(key), key]));
  const documents = new DocumentSet(await fetch([...keys.values()]));
  const through = events.flatMap(({ stream, event }) => touchedThrough(stream, event, documents));
  const more = new Map(through.map((key) => [keyText(key), key]));
  for (const known of keys.keys()) more.delete(known);
  for (const row of await fetch([...more.values()])) documents.add(row);
  return documents;
}

/**
 * Returns the documents that an event's projection may read or write, so that the rows of a page are fetched at once.
 */
export function touchedBy(stream: string, event: AnyEvent): readonly DocumentKey[] {
  const id = idOf(stream);
  switch (categoryOf(stream)) {
    case "experiment":
      return [{ kind: "experiment", id }, ...besideExperiment(id, event)];
    case "search":
      return [{ kind: "experiment", id }, ...searchedTrials(id, event)];
    case "trial":
      return [...trialKeys(id), ...sealedKeys(event)];
    case "task":
      return taskKeys(id, event);
    case "measurement":
      return trialKeys(id);
    case "allocation":
      return allocationKeys(id, event);
    case "checkpoint":
      return [
        { kind: "checkpoint", id },
        ...("trial" in event.data ? trialKeys(event.data.trial as string) : []),
      ];
    case "retention":
      return [{ kind: "checkpoint", id }];
    case "agent":
      return agentKeys(id, event);
    case "token":
      return [{ kind: "token", id }];
    case "pool":
      return poolKeys(id, event);
    case "workspace":
      return [{ kind: "workspace", id }];
    case "project":
      return [{ kind: "project", id }];
    case "model":
      return modelKeys(id, event);
    default:
      return [];
  }
}

/**
 * Returns further rows that a projection needs, found by the documents of `touchedBy`: the best trials, one of which is
 * shown when a trial stops being one, the trial of a checkpoint that is never stored, and the model versions whose
 * checkpoint's metrics are reported late, and the trials and tasks whose runs are on an agent that is lost or returns.
 */
export function touchedThrough(
  stream: string,
  event: AnyEvent,
  documents: DocumentSet,
): readonly DocumentKey[] {
  if (event.type === "TrialEnded" || event.type === "MeasurementsSuperseded") {
    const experiment = parseTrialId(idOf(stream))?.experiment ?? "";
    const { leaders = [] } = documents.get("leaders", experiment) ?? {};
    const best = leaders.map(({ trial }): DocumentKey => ({ kind: "trial", id: trial }));
    if (event.type === "TrialEnded") return best;
    return [...best, ...remainingKeys(idOf(stream), event.data.afterStep, documents)];
  }
  if (endsCheckpoint.has(event.type)) {
    const { trial = "", experiment = "" } = documents.get("checkpoint", idOf(stream)) ?? {};
    return [...trialKeys(trial), { kind: "experiment", id: experiment }];
  }
  if (event.type === "AgentLost") return runsOn(documents, idOf(stream)).flatMap(ownerKeys);
  if (event.type === "AgentReturned") {
    // A loss on the same page concerns the runs that the agent has returned with.
    const returned = event.data.occupations.map(({ allocation }) => allocation);
    return [...runsOn(documents, idOf(stream)), ...returned].flatMap(ownerKeys);
  }
  if (event.type !== "ValidationReported") return [];
  const { trial, run, step } = event.data;
  const versions = documents.get("trial", trial)?.versions ?? [];
  return versions
    .filter((version) => version.run === run && version.step === step)
    .map(({ model, number }): DocumentKey => ({ kind: "version", id: versionKey(model, number) }));
}

const endsCheckpoint: ReadonlySet<string> = new Set([
  "CheckpointFailed",
  "CheckpointAbandoned",
  "CheckpointDeleted",
]);

/** Returns the values of the validations that are left when all beyond a step are superseded. */
function remainingKeys(
  trial: string,
  afterStep: number,
  documents: DocumentSet,
): readonly DocumentKey[] {
  const doc = documents.get("trial", trial);
  if (doc === undefined) return [];
  const { latest, best } = remaining(doc, afterStep);
  const positions = new Set([latest, best].flatMap((record) => record?.at ?? []));
  return [...positions].map((at) => ({ kind: "validation", id: validationKey(trial, at) }));
}

/** Returns the trials whose place in the search changes. */
function searchedTrials(experiment: string, event: AnyEvent): readonly DocumentKey[] {
  const keyOf = (number: number): DocumentKey => ({
    kind: "trial",
    id: trialId(experiment, number),
  });
  switch (event.type) {
    case "ObservationRecorded":
    case "TrialSuspended":
    case "TrialResumed":
    case "TrialStopDecided":
      return [keyOf(event.data.trial)];
    case "SearchContinued":
      return event.data.trials.map(keyOf);
    default:
      return [];
  }
}

/** Returns the checkpoints that a run has left. */
function sealedKeys(event: AnyEvent): readonly DocumentKey[] {
  const named =
    event.type === "RunEnded"
      ? (event.data.sealed?.checkpoints ?? [])
      : event.type === "RunCheckpointsNamed"
        ? event.data.checkpoints
        : [];
  return named.map(({ checkpoint }): DocumentKey => ({ kind: "checkpoint", id: checkpoint }));
}

function modelKeys(model: string, event: AnyEvent): readonly DocumentKey[] {
  const numbers = [];
  if ("number" in event.data) numbers.push(event.data.number as number);
  if (event.type === "AliasMoved") numbers.push(event.data.fromNumber);
  return [
    { kind: "model", id: model },
    ...numbers.map((number): DocumentKey => ({ kind: "version", id: versionKey(model, number) })),
    ...(event.type === "VersionRegistered" ? originKeys(event.data) : []),
  ];
}

/**
 * Returns the documents about a version's origin. A save of a task and an uploaded folder have no trial; the checkpoint
 * names the task or the person.
 */
function originKeys({ checkpoint, trial }: EventData<"VersionRegistered">): readonly DocumentKey[] {
  if (trial === "") return [{ kind: "checkpoint", id: checkpoint }];
  return trialKeys(trial).flatMap((key) =>
    key.kind === "experiment" ? [key, { kind: "config", id: key.id }] : [key],
  );
}

function trialKeys(trial: string): readonly DocumentKey[] {
  const parts = parseTrialId(trial);
  if (parts === null) return [];
  return [
    { kind: "trial", id: trial },
    { kind: "experiment", id: parts.experiment },
    { kind: "leaders", id: parts.experiment },
  ];
}

/** Returns the job of a run: its experiment, or its task. Null if the allocation is not a run's. */
export function jobOfRun(allocation: string): string | null {
  return parseRunId(allocation)?.experiment ?? parseTaskRunId(allocation)?.task ?? null;
}

/** Returns the document of the trial or the task whose run an allocation is. */
function ownerKeys(allocation: string): readonly DocumentKey[] {
  const trial = parseRunId(allocation)?.trial;
  if (trial !== undefined) return [{ kind: "trial", id: trial }];
  const task = parseTaskRunId(allocation)?.task;
  return task === undefined ? [] : [{ kind: "task", id: task }];
}

function taskKeys(id: string, event: AnyEvent): readonly DocumentKey[] {
  const task: DocumentKey = { kind: "task", id };
  const changesJob = event.type === "TaskEnded" || event.type === "TaskDeleted";
  return changesJob ? [task, { kind: "job", id }] : [task];
}

function besideExperiment(id: string, event: AnyEvent): readonly DocumentKey[] {
  if (event.type === "ExperimentContinued") return [{ kind: "config", id }];
  const changesJob = event.type === "ExperimentEnded" || event.type === "ExperimentDeleted";
  return changesJob ? [{ kind: "job", id }] : [];
}

function agentKeys(id: string, event: AnyEvent): readonly DocumentKey[] {
  const ofMany = event.type === "AgentsSilent" || event.type === "AgentsHeard";
  return (ofMany ? event.data.agents : [id]).map((agent) => ({ kind: "agent", id: agent }));
}

function poolKeys(id: string, event: AnyEvent): readonly DocumentKey[] {
  const pool: DocumentKey = { kind: "pool", id };
  if (event.type === "PoolRemoved") return [pool];
  const ofJob = event.type === "JobUpdated" || event.type === "JobMoved";
  return ofJob ? [pool, { kind: "job", id: event.data.job }] : [];
}

function allocationKeys(allocation: string, event: AnyEvent): readonly DocumentKey[] {
  if (event.type === "AllocationQueued") {
    const { job, resources } = event.data;
    return [
      ...jobKeys(job, allocation),
      { kind: "pool", id: resources?.pool ?? "" },
      ...ownerKeys(allocation).filter(({ kind }) => kind === "task"),
    ];
  }
  const owner = ownerKeys(allocation);
  const job = jobOfRun(allocation);
  if (job === null) return [];
  // A stop by the scheduler changes the state of a task only; that of a trial has a state for stops of its own service.
  if (stopsAllocation.has(event.type)) return owner.filter(({ kind }) => kind === "task");
  const changesJob = event.type === "AllocationGranted" || event.type === "AllocationEnded";
  const experiment = parseRunId(allocation)?.experiment;
  return [
    ...owner,
    ...(event.type === "AllocationGranted" && experiment !== undefined
      ? [{ kind: "experiment", id: experiment } as const]
      : []),
    ...(changesJob ? jobKeys(job, allocation) : []),
    ...agentsOf(event).map((id): DocumentKey => ({ kind: "agent", id })),
  ];
}

const jobKeys = (job: string, allocation: string): readonly DocumentKey[] => [
  { kind: "job", id: job },
  { kind: "jobRun", id: allocation },
];

const stopsAllocation: ReadonlySet<string> = new Set([
  "AllocationStopRequested",
  "AllocationStopWithdrawn",
]);

function agentsOf(event: AnyEvent): readonly string[] {
  if (event.type === "AllocationGranted") return event.data.placements.map(({ agent }) => agent);
  if (event.type !== "AllocationEnded") return [];
  return event.data.exits.map(({ agent }) => agent).filter((agent) => agent !== "");
}
