import { assert } from "./assert.ts";

declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

/** An id such as `12`. */
export type ExperimentId = Id<"ExperimentId">;
/** An id such as `12.3`. */
export type TrialId = Id<"TrialId">;
/** An id such as `12.3#2`. */
export type RunId = Id<"RunId">;
/** An id such as `t12`: of a command or a shell. */
export type TaskId = Id<"TaskId">;
/** An id such as `t12#1`. */
export type TaskRunId = Id<"TaskRunId">;
/** The id of a run of a trial or of a task. */
export type AllocationId = RunId | TaskRunId;
export type CheckpointId = Id<"CheckpointId">;
export type AgentId = Id<"AgentId">;
export type PoolId = Id<"PoolId">;
/** A name such as `experiment-12` or `trial-12.3`; the category is the part before the first `-`. */
export type StreamName = Id<"StreamName">;

const experimentPattern = /^[1-9][0-9]{0,15}$/;
const trialPattern = /^([1-9][0-9]{0,15})\.([1-9][0-9]{0,8})$/;
const runPattern = /^(([1-9][0-9]{0,15})\.([1-9][0-9]{0,8}))#([1-9][0-9]{0,8})$/;
const taskPattern = /^t[1-9][0-9]{0,15}$/;
const taskRunPattern = /^(t[1-9][0-9]{0,15})#([1-9][0-9]{0,8})$/;
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Names that people give to agents and pools: each is one NATS token and one path component without escaping. */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/** Names and values of agents' labels; a namespace may come before a slash. */
const labelPattern = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,62}$/;

export const isExperimentId = (text: string): text is ExperimentId => experimentPattern.test(text);
export const isTrialId = (text: string): text is TrialId => trialPattern.test(text);
export const isRunId = (text: string): text is RunId => runPattern.test(text);
export const isAllocationId = (text: string): text is AllocationId =>
  runPattern.test(text) || taskRunPattern.test(text);
export const isTaskId = (text: string): text is TaskId => taskPattern.test(text);
export const isCheckpointId = (text: string): text is CheckpointId => uuidPattern.test(text);
export const isName = (text: string): boolean => namePattern.test(text);
export const isLabel = (text: string): boolean => labelPattern.test(text);

export function experimentId(value: string | number): ExperimentId {
  const text = String(value);
  assert(isExperimentId(text), `"${text}" is an experiment's id`);
  return text;
}

export function trialId(experiment: string, number: number): TrialId {
  const text = `${experiment}.${number}`;
  assert(isTrialId(text), `"${text}" is a trial's id`);
  return text;
}

export function runId(trial: string, run: number): RunId {
  const text = `${trial}#${run}`;
  assert(isRunId(text), `"${text}" is a run's id`);
  return text;
}

export function taskId(number: string | number): TaskId {
  const text = `t${number}`;
  assert(isTaskId(text), `"${text}" is a task's id`);
  return text;
}

export function taskRunId(task: string, run: number): TaskRunId {
  const text = `${task}#${run}`;
  assert(taskRunPattern.test(text), `"${text}" is the id of a task's run`);
  return text as TaskRunId;
}

/** Returns the id of a run of a trial or of a task. */
export function allocationId(owner: string, run: number): AllocationId {
  return isTaskId(owner) ? taskRunId(owner, run) : runId(owner, run);
}

export type TaskRunParts = { readonly task: TaskId; readonly run: number };
export type TrialParts = { readonly experiment: ExperimentId; readonly number: number };
export type RunParts = TrialParts & { readonly trial: TrialId; readonly run: number };

/** Returns the parts of a trial's id; null for any other text. */
export function parseTrialId(text: string): TrialParts | null {
  const match = trialPattern.exec(text);
  if (match === null) return null;
  return { experiment: match[1] as ExperimentId, number: Number(match[2]) };
}

/** The key of a report: the node that recorded it, and its number there. Later reports of a node have larger ones. */
export type ReportKey = { readonly nodeRank: number; readonly number: number };

const reportKeyPattern = /^(0|[1-9][0-9]{0,8})-([1-9][0-9]{0,14})$/;

/** Returns the parts of a report's key such as `0-17`; null for any other text. */
export function parseReportKey(text: string): ReportKey | null {
  const match = reportKeyPattern.exec(text);
  return match === null ? null : { nodeRank: Number(match[1]), number: Number(match[2]) };
}

/** Returns the parts of the id of a task's run, such as `t12#1`; null for any other text. */
export function parseTaskRunId(text: string): TaskRunParts | null {
  const match = taskRunPattern.exec(text);
  return match === null ? null : { task: match[1] as TaskId, run: Number(match[2]) };
}

/** Returns the parts of the id of a trial's run; null for any other text, such as the id of a task's run. */
export function parseRunId(text: string): RunParts | null {
  const match = runPattern.exec(text);
  if (match === null) return null;
  return {
    trial: match[1] as TrialId,
    experiment: match[2] as ExperimentId,
    number: Number(match[3]),
    run: Number(match[4]),
  };
}

/**
 * Returns whether a later run of the trial has replaced this one. Runs of a trial are numbered from 1 in the order of
 * their requests. A run is superseded when the next one is requested; its later reports are stale.
 */
export function isSuperseded(run: number, newest: number): boolean {
  return run < newest;
}

export function streamName(category: string, id: string): StreamName {
  assert(/^[a-z]+$/.test(category) && id.length > 0, `"${category}-${id}" names a stream`);
  return `${category}-${id}` as StreamName;
}

export function categoryOf(stream: string): string {
  const dash = stream.indexOf("-");
  assert(dash > 0, `"${stream}" names a stream`);
  return stream.slice(0, dash);
}

/** Returns the part after the category: the id of the stream's experiment, trial, …. */
export function idOf(stream: string): string {
  return stream.slice(categoryOf(stream).length + 1);
}
