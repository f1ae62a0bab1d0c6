/**
 * An example of each call of the API, as the fields of its request in proto JSON. A test makes all of them against a
 * gateway that has what they name.
 */
import type { CallName } from "@trainyard/contracts";

export type Example = Readonly<Record<string, unknown>>;

const experiment = "1";
const trial = "1.1";
const run = "1.1#1";
const task = "t1";
const board = "t2#1";
const checkpoint = "0193c5a0-0000-4000-8000-000000000001";
const declared = "0193c5a0-0000-4000-8000-000000000002";
const sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const files = [{ path: "model.pt", bytes: 1024, sha256 }];
const config = `name: iris
entrypoint: python3 train.py
searcher: {name: single, metric: loss, max_time: 4}
`;
const model = "iris";
const workspace = "research";
const project = "vision";
const reason = "the data was wrong";
const page = { pageSize: 20 };

const experiments = {
  createExperiment: { config, paused: true, overrides: ["hyperparameters.lr=0.1"], client: "curl" },
  listExperiments: { ...page, filter: "state = ACTIVE", orderBy: "created_at desc" },
  getExperiment: { experiment },
  updateExperiment: { experiment, name: "iris", addLabels: ["baseline"], reason },
  forkExperiment: { experiment, overrides: ["hyperparameters.lr=0.2"] },
  actOnExperiments: { experiments: [experiment], verb: "pause", reason, dryRun: true },
  labelExperiments: { experiments: [experiment], addLabels: ["baseline"] },
  archiveExperiment: { experiment, reason },
  unarchiveExperiment: { experiment },
  activateExperiment: { experiment },
  pauseExperiment: { experiment },
  cancelExperiment: { experiment },
  killExperiment: { experiment },
  continueExperiment: { experiment, maxLength: 20, lengthUnit: "batches" },
  deleteExperiment: { experiment, reason, dryRun: true },
  undeleteExperiment: { experiment },
  listDeletedExperiments: page,
  getSubmission: { experiment },
  downloadExperimentCode: { experiment },
  listCodeFiles: { experiment, ...page },
  getCodeFile: { experiment, path: "train.py" },
  diffExperiments: { experiment, other: "2" },
  moveExperiments: { experiments: [experiment], workspace, project, dryRun: true },
  listTrials: { experiment, ...page, filter: "state = ACTIVE" },
  getTrial: { trial },
  restartTrial: { trial },
  killTrial: { trial, reason },
  compareTrials: { sources: [trial, "1.best"] },
} as const satisfies Partial<Record<CallName, Example>>;

const results = {
  listTrialMetrics: { trial, group: "validation", ...page },
  queryMetrics: { trials: [trial], group: "training", names: ["loss"], buckets: 100 },
  listTrialMetricNames: { trial, prefix: "lo", ...page },
  listTrialSystemMetrics: { trial, group: "cpu", ...page },
  getTrialProfile: { trial, run: 1, ...page },
  followMetrics: { experiment, group: "validation" },
  followTrialMetrics: { trial, group: "training" },
  listTrialLogs: { trial, tail: 100, level: "warning", contains: "out of memory" },
  listExperimentLogs: { experiment, tail: 100 },
  followTrialLogs: { trial },
  followExperimentLogs: { experiment, level: "error" },
  downloadTensorBoard: { trial },
  watch: { topics: [{ kind: "experiments", filter: "state = ACTIVE" }] },
  getImportance: { experiment },
  getParetoFront: { experiment, all: true },
  getBestSoFar: { experiment },
  getSearchPicture: { experiment, pageSize: 20 },
  watchSearchEvents: { experiment, noFollow: true },
  postSearchOperations: { experiment, operations: [{ id: "op-1", progress: { progress: 0.5 } }] },
} as const satisfies Partial<Record<CallName, Example>>;

const checkpoints = {
  listCheckpoints: { experiment, trial, task, ...page },
  getCheckpoint: { checkpoint },
  downloadCheckpoint: { checkpoint, globs: ["*.pt"] },
  declareCheckpoint: { run, checkpoint: declared, stepsCompleted: 100, metadata: { epoch: 1 } },
  completeCheckpoint: { run, checkpoint: declared, manifest: files },
  readCheckpointAhead: { run, checkpoint: declared, paths: ["model.pt"] },
  failCheckpoint: { run, checkpoint: declared, reason: "the disk is full" },
  reportDamagedCheckpoint: { run, checkpoint, detail: "model.pt ends early" },
  planDownload: { checkpoint },
  planUpload: { run, checkpoint: declared, files },
  planTensorBoard: { run, files },
  planFiles: { checkpoint, paths: ["model.pt"] },
  pinCheckpoint: { checkpoint, reason: "for the paper" },
  unpinCheckpoint: { checkpoint },
  deleteCheckpoint: { checkpoint, reason, globs: ["optimizer*"] },
  undeleteCheckpoint: { checkpoint, reason },
  explainCheckpoint: { checkpoint },
  previewRetention: { experiment, saveTrialBest: 2, ...page },
  setRetentionPolicy: { experiment, saveExperimentBest: 1, saveTrialBest: 1, saveTrialLatest: 1 },
  verifyCheckpoint: { checkpoint },
  auditStorage: { reason: "a check of each month" },
  listStorages: {},
  adoptStorage: { root: "/checkpoints", replacedIds: [] },
  getDeletionHold: page,
  releaseDeletions: { reason: "the restored log is complete" },
} as const satisfies Partial<Record<CallName, Example>>;

const models = {
  listModels: { ...page, filter: "label = production" },
  createModel: { name: "flowers", description: "finds the kind of a flower", workspace },
  getModel: { model },
  updateModel: { model, notes: "see the report", addLabels: ["production"] },
  archiveModel: { model, reason },
  unarchiveModel: { model },
  moveModel: { model, workspace },
  registerModelVersion: { model, checkpoint, semanticVersion: "1.1.0", labels: ["candidate"] },
  listModelVersions: { model, ...page },
  bestModelVersions: { model, metric: "loss", order: "min", limit: 1 },
  getModelVersion: { model, version: "1" },
  updateModelVersion: { model, version: "1", description: "trained on the full data" },
  removeModelVersion: { model, version: "1", reason },
  downloadModelVersionCode: { model, version: "1" },
  moveModelAlias: { model, alias: "champion", version: "1", reason: "better than 0" },
  removeModelAlias: { model, alias: "champion", reason },
  listModelAliasMoves: { model, alias: "champion", ...page },
} as const satisfies Partial<Record<CallName, Example>>;

const tasks = {
  createTask: { kind: "command", command: ["python3", "-c", "print(1)"], workspace },
  listTasks: { ...page, filter: "kind = command" },
  getTask: { task },
  killTask: { task, reason },
  pauseTask: { task, reason: "continues tomorrow" },
  resumeTask: { task },
  getTaskUse: { task },
  deleteTask: { task },
  listTaskLogs: { task, tail: 100 },
  followTaskLogs: { task },
  createTaskSession: { task, port: 8888 },
  listTensorBoardTrials: { run: board },
  listTensorBoardFiles: { run: board, trial },
  readTensorBoardFile: { run: board, trial, path: "events.out.tfevents.1", offset: 0 },
  getSignals: { run, waitMs: 1 },
  recordEnvironment: { run, python: "3.12.4", packages: { torch: "2.4.0" } },
} as const satisfies Partial<Record<CallName, Example>>;

const events = {
  watchEvents: { types: ["ExperimentEnded"], experiment, noFollow: true },
  listEvents: { object: "trial", id: trial, ...page },
  getEvent: { position: "1" },
  createSubscription: {
    name: "notify",
    delivery: "webhook",
    filter: { types: ["ExperimentEnded"] },
    webhook: { url: "https://example.com/hook" },
  },
  listSubscriptions: { ...page, delivery: "pull" },
  getSubscription: { name: "nightly" },
  changeSubscription: { name: "nightly", filter: { types: ["ExperimentEnded"] } },
  deleteSubscription: { name: "nightly" },
  ackSubscription: { name: "nightly", position: "1" },
  adoptSubscription: { name: "nightly" },
  disableSubscription: { name: "nightly", reason: "the reader is being repaired" },
  enableSubscription: { name: "nightly" },
  rotateSecret: { name: "notify", oldForMs: 86_400_000 },
  testWebhook: { name: "notify" },
  listDeliveries: { name: "notify", state: "FAILED", ...page },
  redeliverEvent: { name: "notify", event: "0193c5a0-0000-7000-8000-000000000001" },
} as const satisfies Partial<Record<CallName, Example>>;

const cluster = {
  getVersion: {},
  listAgents: { ...page, filter: "state = CONNECTED" },
  trustAgent: { name: "rack" },
  disableAgent: { name: "rack", slot: "0", reason: "the fan is loud" },
  drainAgent: { name: "rack", reason: "a new driver", deadlineMs: 600_000 },
  enableAgent: { name: "rack", slot: "0" },
  removeAgent: { name: "rack", reason: "the host is gone" },
  listParked: {},
  retryParked: { consumer: "scheduler", key: "experiment-1" },
  verifyLog: { skipViews: true },
  getLogAnchor: {},
  listPools: {},
  getPool: { name: "default" },
  createPool: { name: "a100", policy: "fair_share", settings: { fit: "spread" } },
  updatePool: { name: "default", policy: "priority", settings: { preemption: true } },
  removePool: { name: "a100" },
  listJobs: { pool: "default", ...page },
  explainJob: { job: experiment },
  updateJob: { job: experiment, priority: 10 },
  moveJob: { job: experiment, anchor: "2", ahead: true },
  listViews: {},
  rebuildView: { service: "registry", view: "registry" },
} as const satisfies Partial<Record<CallName, Example>>;

const spaces = {
  createWorkspace: { name: "language", description: "models of text" },
  listWorkspaces: page,
  getWorkspace: { workspace },
  updateWorkspace: { workspace, notes: "ask ada" },
  archiveWorkspace: { workspace, reason },
  unarchiveWorkspace: { workspace },
  createProject: { workspace, name: "audio", description: "models of sound" },
  listProjects: { workspace, ...page },
  getProject: { workspace, project },
  updateProject: { workspace, project, notes: "see the report" },
  archiveProject: { workspace, project, reason },
  unarchiveProject: { workspace, project },
  createToken: { label: "ci", ttlSeconds: 3600 },
  listTokens: page,
  revokeToken: { token: "1" },
  createSession: { token: "ty_0123456789" },
  getCurrentSession: {},
  deleteCurrentSession: {},
  createSessionCode: {},
} as const satisfies Partial<Record<CallName, Example>>;

const user = "ada";
const group = "vision-team";
const password = "b109f3bbbc244eb8".repeat(8);

const people = {
  getMe: {},
  createUser: { name: "grace", displayName: "Grace Hopper", email: "grace@example.org", password },
  listUsers: { ...page, prefix: "a" },
  getUser: { user },
  updateUser: { user, displayName: "Ada King" },
  disableUser: { user: "bo", reason: "left the lab" },
  enableUser: { user: "bo" },
  setPassword: { current: password, password: "9b71d224bd62f378".repeat(8) },
  resetPassword: { user },
  listGroups: {},
  createGroup: { name: "language-team", members: [user] },
  renameGroup: { group: "audio-team", name: "sound-team" },
  changeGroupMembers: { group, join: ["bo"], leave: [user] },
  deleteGroup: { group: "old-team" },
  listRoles: {},
  defineRole: {
    role: "annotator",
    description: "labels experiments",
    permissions: ["workspace_view", "experiment_view", "experiment_edit"],
  },
  deleteRole: { role: "annotator" },
  listGrants: { workspace },
  giveRole: { role: "editor", group, workspace },
  takeRole: { grant: "everyone-default" },
  startDeviceLogin: { program: "yard 0.1.0 on laptop" },
  finishDeviceLogin: { secret: "0123456789abcdef0123456789abcdef0123456789a" },
  getDeviceLogin: { code: "BCDF-GHJK" },
  answerDeviceLogin: { code: "BCDF-GHJK", confirm: true },
} as const satisfies Partial<Record<CallName, Example>>;

export const examples: Readonly<Record<CallName, Example>> = {
  ...experiments,
  ...results,
  ...checkpoints,
  ...models,
  ...tasks,
  ...events,
  ...cluster,
  ...spaces,
  ...people,
};
