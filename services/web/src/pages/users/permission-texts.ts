import type { PermissionName } from "@trainyard/access";

/** The actions that each permission allows. Every user is signed in, so no role has that permission. */
export const permissionTexts: Readonly<Record<Exclude<PermissionName, "signed_in">, string>> = {
  workspace_view: "see that the workspace and its projects exist",
  project_edit: "create and describe projects",
  workspace_admin: "describe and archive the workspace and its projects, and give roles in it",
  experiment_view: "see experiments with their trials, metrics, logs, checkpoints and code",
  experiment_create: "create experiments, also as forks",
  experiment_edit: "change names, notes and labels of experiments, archive them, pin checkpoints",
  experiment_control_own: "pause, stop, continue, move and delete one's own experiments",
  experiment_control: "the same for all experiments",
  task_view: "see tasks and their logs",
  task_create: "start tasks",
  task_control_own: "pause, resume, end and delete one's own tasks",
  task_control: "the same for all tasks; only its owner opens a task",
  model_view: "see models and their versions, and read the files of versions",
  model_edit: "create and describe models, register versions and move aliases",
  model_control_own: "archive and move one's own models, and remove their versions",
  model_control: "the same for all models",
  workspace_create: "create workspaces",
  cluster_admin: "manage agents, pools, the queue, storages, views and the log",
  user_admin: "manage users, groups, roles, and the tokens and subscriptions of all",
};

/** Returns the permissions with their texts, in the order of the roles' page. */
export const permissionRows = Object.entries(permissionTexts).map(([name, text]) => ({
  name: name as keyof typeof permissionTexts,
  text,
}));
