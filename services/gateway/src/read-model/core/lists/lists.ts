/** The lists of the API whose rows have a table of their own. */

import { hyperparameterAttributes, metricAttributes } from "../views/attributes.ts";
import type { DocumentKind, TaskDocument } from "../views/documents.ts";
import { experimentStates } from "../views/project-experiment.ts";
import { defaultSpace } from "../views/project-space.ts";
import { taskStates } from "../views/project-task.ts";
import { trialStates } from "../views/project-trial.ts";
import type { ListSpec } from "./list-spec.ts";

const inWorkspaces = (names: string): string => `r.workspace = any(${names})`;

const jobIn = (table: string, names: string): string =>
  `exists (select from gateway.${table} o where o.id = r.job and o.workspace = any(${names}))`;

export const experimentList: ListSpec<"experiment"> = {
  kind: "experiment",
  table: "experiment_rows",
  plural: "experiments",
  newestFirst: true,
  sights: [{ permission: "experiment_view", in: inWorkspaces }],
  scope: () => "",
  fields: [
    { name: "id", column: "ordinal", type: "number", value: ({ id }) => Number(id) },
    { name: "name", column: "name", type: "text", value: ({ name }) => name },
    {
      name: "state",
      column: "state",
      type: "text",
      value: ({ state }) => state,
      values: experimentStates,
    },
    { name: "owner", column: "owner", type: "text", person: true, value: ({ owner }) => owner },
    {
      name: "workspace",
      column: "workspace",
      type: "text",
      anyCase: true,
      value: ({ workspace }) => workspace || defaultSpace,
    },
    {
      name: "project",
      column: "project",
      type: "text",
      anyCase: true,
      value: ({ project }) => project || defaultSpace,
    },
    { name: "searcher", column: "searcher", type: "text", value: ({ searcher }) => searcher },
    { name: "metric", column: "metric", type: "text", value: ({ metric }) => metric },
    {
      name: "parent",
      column: "forked_from",
      type: "text",
      experiment: true,
      value: ({ parent }) => parent,
    },
    { name: "archived", column: "archived", type: "boolean", value: ({ archived }) => archived },
    {
      name: "deleted",
      column: "deleted",
      type: "boolean",
      value: ({ deletion }) => deletion !== undefined,
    },
    { name: "created_at", column: "created_at_ms", type: "time", value: (doc) => doc.createdAtMs },
    { name: "ended_at", column: "ended_at_ms", type: "time", value: (doc) => doc.endedAtMs },
    { name: "progress", column: "progress", type: "number", value: ({ progress }) => progress },
    { name: "trials", column: "trials", type: "number", value: ({ trials }) => trials },
    {
      name: "trials_completed",
      column: "trials_completed",
      type: "number",
      value: (doc) => doc.trialsCompleted,
    },
    {
      name: "trials_failed",
      column: "trials_failed",
      type: "number",
      value: (doc) => doc.trialsFailed,
    },
    { name: "best_value", column: "best_value", type: "number", value: (doc) => doc.bestValue },
    { name: "best_trial", column: "best_trial", type: "text", value: (doc) => doc.bestTrial },
  ],
  labels: ({ labels }) => labels,
  texts: ({ id, name, description, labels }) => [id, name, description, ...labels],
  attributes: ({ attributes }) => attributes,
};

export const trialList: ListSpec<"trial"> = {
  kind: "trial",
  table: "trial_rows",
  plural: "trials",
  newestFirst: false,
  scope: ({ experiment }) => experiment,
  fields: [
    { name: "number", column: "ordinal", type: "number", value: ({ number }) => number },
    {
      name: "state",
      column: "state",
      type: "text",
      value: ({ state }) => state,
      values: trialStates,
    },
    { name: "origin", column: "origin", type: "text", value: ({ origin }) => origin },
    { name: "source_trial", column: "source_trial", type: "text", value: (doc) => doc.sourceTrial },
    { name: "restarts", column: "restarts", type: "number", value: ({ restarts }) => restarts },
    {
      name: "steps_completed",
      column: "steps_completed",
      type: "number",
      value: (doc) => doc.stepsCompleted,
    },
    { name: "best_value", column: "best_value", type: "number", value: (doc) => doc.bestValue },
    { name: "created_at", column: "created_at_ms", type: "time", value: (doc) => doc.createdAtMs },
    { name: "ended_at", column: "ended_at_ms", type: "time", value: (doc) => doc.endedAtMs },
  ],
  labels: () => [],
  texts: ({ id, reason }) => [id, reason],
  attributes: ({ hyperparameters = {}, latest }) => [
    ...hyperparameterAttributes(hyperparameters),
    ...metricAttributes(latest?.values ?? {}),
  ],
};

export const checkpointList: ListSpec<"checkpoint"> = {
  kind: "checkpoint",
  table: "checkpoint_rows",
  plural: "checkpoints",
  newestFirst: false,
  // The ids of tasks and of experiments differ.
  scope: ({ experiment, task }) => task ?? experiment,
  fields: [
    { name: "trial", column: "trial", type: "text", value: ({ trial }) => trial },
    { name: "run", column: "run", type: "number", value: ({ run }) => run },
    { name: "state", column: "state", type: "text", value: ({ state }) => state },
    {
      name: "steps_completed",
      column: "steps_completed",
      type: "number",
      value: (doc) => doc.stepsCompleted,
    },
    { name: "files", column: "files", type: "number", value: ({ files }) => files },
    { name: "bytes", column: "bytes", type: "number", value: ({ bytes }) => bytes },
    { name: "pins", column: "pins", type: "number", value: ({ pins }) => pins.length },
    {
      name: "declared_at",
      column: "declared_at_ms",
      type: "time",
      value: (doc) => doc.declaredAtMs,
    },
    {
      name: "completed_at",
      column: "completed_at_ms",
      type: "time",
      value: (doc) => doc.completedAtMs,
    },
  ],
  labels: () => [],
  texts: ({ uuid, trial, reason }) => [uuid, trial, reason],
  attributes: null,
};

export const modelList: ListSpec<"model"> = {
  kind: "model",
  table: "model_rows",
  plural: "models",
  newestFirst: true,
  sights: [{ permission: "model_view", in: inWorkspaces }],
  scope: () => "",
  fields: [
    { name: "name", column: "name", type: "text", value: ({ name }) => name },
    {
      name: "workspace",
      column: "workspace",
      type: "text",
      anyCase: true,
      value: ({ workspace }) => workspace || defaultSpace,
    },
    {
      name: "created_by",
      column: "created_by",
      type: "text",
      person: true,
      value: (doc) => doc.createdBy,
    },
    { name: "archived", column: "archived", type: "boolean", value: ({ archived }) => archived },
    { name: "versions", column: "versions", type: "number", value: ({ versions }) => versions },
    { name: "created_at", column: "created_at_ms", type: "time", value: (doc) => doc.createdAtMs },
    { name: "changed_at", column: "changed_at_ms", type: "time", value: (doc) => doc.changedAtMs },
  ],
  labels: ({ labels }) => labels,
  texts: ({ name, description, labels }) => [name, description, ...labels],
  attributes: null,
};

export const agentList: ListSpec<"agent"> = {
  kind: "agent",
  table: "agent_rows",
  plural: "agents",
  newestFirst: false,
  scope: () => "",
  fields: [
    { name: "name", column: "name", type: "text", value: ({ name }) => name },
    { name: "pool", column: "pool", type: "text", value: ({ pool }) => pool },
    {
      name: "state",
      column: "state",
      type: "text",
      value: ({ state }) => state,
      values: ["CONNECTED", "LOST", "REMOVED"],
    },
    { name: "version", column: "version", type: "text", value: ({ version }) => version },
    { name: "slots", column: "slots", type: "number", value: ({ slots }) => slots.length },
    {
      name: "free_slots",
      column: "free_slots",
      type: "number",
      value: ({ slots }) => slots.filter(({ run }) => run === "").length,
    },
    {
      name: "disabled",
      column: "disabled",
      type: "boolean",
      value: ({ disabled }) => disabled !== undefined,
    },
  ],
  // Labels have the same form as in constraints: name=value.
  labels: ({ labels }) => Object.entries(labels).map(([name, value]) => `${name}=${value}`),
  texts: ({ name, pool, slots }) => [name, pool, ...slots.map((slot) => slot.name ?? slot.device)],
  attributes: null,
};

/** Jobs are sorted by their first run in the queue. */
export const jobList: ListSpec<"job"> = {
  kind: "job",
  table: "job_rows",
  plural: "jobs",
  newestFirst: false,
  order: "queue",
  isListed: ({ runsWaiting, runsPlaced }) => runsWaiting + runsPlaced > 0,
  // The job's own workspace is the one in which its first run was queued: the experiment or task may have moved.
  sights: [
    { permission: "experiment_view", in: (names) => jobIn("experiment_rows", names) },
    { permission: "task_view", in: (names) => jobIn("task_rows", names) },
  ],
  scope: () => "",
  fields: [
    { name: "job", column: "job", type: "text", value: ({ job }) => job },
    { name: "pool", column: "pool", type: "text", value: ({ pool }) => pool },
    {
      name: "workspace",
      column: "workspace",
      type: "text",
      anyCase: true,
      value: ({ workspace }) => workspace,
    },
    { name: "owner", column: "owner", type: "text", person: true, value: ({ owner }) => owner },
    { name: "priority", column: "priority", type: "number", value: ({ priority }) => priority },
    { name: "weight", column: "weight", type: "number", value: ({ weight }) => weight },
    { name: "max_slots", column: "max_slots", type: "number", value: ({ maxSlots }) => maxSlots },
    {
      name: "runs_waiting",
      column: "runs_waiting",
      type: "number",
      value: ({ runsWaiting }) => runsWaiting,
    },
    {
      name: "runs_placed",
      column: "runs_placed",
      type: "number",
      value: ({ runsPlaced }) => runsPlaced,
    },
    { name: "slots_held", column: "slots_held", type: "number", value: (doc) => doc.slotsHeld },
    {
      name: "slots_wanted",
      column: "slots_wanted",
      type: "number",
      value: (doc) => doc.slotsWanted,
    },
    {
      name: "slots_borrowed",
      column: "slots_borrowed",
      type: "number",
      value: (doc) => doc.slotsBorrowed,
    },
    { name: "queue", column: "queue", type: "text", value: ({ queue }) => queue },
  ],
  labels: null,
  texts: ({ job, pool, workspace, owner }) => [job, pool, workspace, owner],
  attributes: null,
};

export const taskList: ListSpec<"task"> = {
  kind: "task",
  table: "task_rows",
  plural: "tasks",
  newestFirst: true,
  sights: [{ permission: "task_view", in: inWorkspaces }],
  scope: () => "",
  fields: [
    { name: "id", column: "task", type: "text", value: ({ id }) => id },
    { name: "kind", column: "kind", type: "text", value: ({ kind }) => kind },
    { name: "name", column: "name", type: "text", value: ({ name }) => name },
    {
      name: "state",
      column: "state",
      type: "text",
      value: ({ state }) => state,
      values: taskStates,
    },
    { name: "owner", column: "owner", type: "text", person: true, value: ({ owner }) => owner },
    {
      name: "workspace",
      column: "workspace",
      type: "text",
      anyCase: true,
      value: ({ workspace }) => workspace || defaultSpace,
    },
    { name: "pool", column: "pool", type: "text", value: ({ pool }) => pool },
    { name: "agent", column: "agent", type: "text", value: agentOf },
    { name: "slots", column: "slots", type: "number", value: ({ slots }) => slots },
    { name: "priority", column: "priority", type: "number", value: ({ priority }) => priority },
    { name: "restarts", column: "restarts", type: "number", value: ({ restarts }) => restarts },
    { name: "exit_code", column: "exit_code", type: "number", value: ({ exitCode }) => exitCode },
    { name: "created_at", column: "created_at_ms", type: "time", value: (doc) => doc.createdAtMs },
    { name: "started_at", column: "started_at_ms", type: "time", value: (doc) => doc.startedAtMs },
    { name: "ended_at", column: "ended_at_ms", type: "time", value: (doc) => doc.endedAtMs },
  ],
  labels: null,
  texts: ({ id, name, owner, pool, sources }) => [id, name, owner, pool, ...sources],
  attributes: null,
};

/** Returns the agent of the last run; undefined before it has one. */
function agentOf({ runs }: TaskDocument): string | undefined {
  return runs.at(-1)?.placements[0]?.agent;
}

const spaceFields: ListSpec<"workspace" | "project">["fields"] = [
  { name: "name", column: "name", type: "text", anyCase: true, value: ({ name }) => name },
  { name: "archived", column: "archived", type: "boolean", value: ({ archived }) => archived },
  {
    name: "created_by",
    column: "created_by",
    type: "text",
    person: true,
    value: (doc) => doc.createdBy,
  },
  { name: "created_at", column: "created_at_ms", type: "time", value: (doc) => doc.createdAtMs },
];

export const workspaceList: ListSpec<"workspace"> = {
  kind: "workspace",
  table: "workspace_rows",
  plural: "workspaces",
  newestFirst: false,
  sights: [{ permission: "workspace_view", in: (names) => `r.name = any(${names})` }],
  scope: () => "",
  fields: spaceFields,
  labels: null,
  texts: ({ name, description }) => [name, description],
  attributes: null,
};

/** A project of an archived workspace is archived too, by `projectColumns`. */
export const projectList: ListSpec<"project"> = {
  kind: "project",
  table: "project_rows",
  plural: "projects",
  newestFirst: false,
  scope: (_doc, workspace) => workspace,
  fields: spaceFields,
  labels: null,
  texts: ({ name, description }) => [name, description],
  attributes: null,
};

/** The list of each kind of documents that has one. */
export const lists: { readonly [Kind in DocumentKind]?: ListSpec<Kind> } = {
  experiment: experimentList,
  trial: trialList,
  checkpoint: checkpointList,
  model: modelList,
  agent: agentList,
  job: jobList,
  task: taskList,
  workspace: workspaceList,
  project: projectList,
};
