import { create, type DescService, setExtension } from "@bufbuild/protobuf";
import { MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ClusterService } from "./gen/trainyard/api/v1/cluster_pb.ts";
import { call as callOptions, CallOptionsSchema } from "./gen/trainyard/options/v1/call_pb.ts";
import { BodyLimit, type CallFacts, gatewayRoutes, routesOf } from "./routes.ts";

/** The calls that say something in their options, with what they say. A review sees each change of an option here. */
const said: Readonly<Record<string, string>> = {
  actOnExperiments: "storesAnswer forOwner",
  activateExperiment: "storesAnswer forOwner",
  adoptStorage: "storesAnswer",
  adoptSubscription: "storesAnswer",
  answerDeviceLogin: "ignoresKey",
  archiveExperiment: "storesAnswer forOwner",
  archiveModel: "storesAnswer forOwner",
  archiveProject: "storesAnswer forOwner",
  archiveWorkspace: "storesAnswer forOwner",
  auditStorage: "storesAnswer",
  bestModelVersions: "forOwner",
  cancelExperiment: "storesAnswer forOwner",
  changeGroupMembers: "storesAnswer",
  changeSubscription: "storesAnswer",
  compareTrials: "forOwner",
  completeCheckpoint: "forRuns storesAnswer afterTrial forTasks forOwner",
  continueExperiment: "storesAnswer forOwner",
  createExperiment: "storesAnswer forOwner large",
  createGroup: "storesAnswer",
  createModel: "storesAnswer forOwner",
  createPool: "storesAnswer",
  createProject: "storesAnswer forOwner",
  createSession: "signsIn secret ignoresKey small",
  createSessionCode: "secret ignoresKey",
  createSubscription: "secret",
  createTask: "storesAnswer large",
  createTaskSession: "secret ignoresKey",
  createToken: "secret",
  createUser: "secret small",
  createWorkspace: "storesAnswer forOwner",
  declareCheckpoint: "forRuns storesAnswer afterTrial forTasks forOwner",
  defineRole: "storesAnswer",
  deleteCheckpoint: "storesAnswer forOwner",
  deleteCurrentSession: "ignoresKey",
  deleteExperiment: "storesAnswer forOwner",
  deleteGroup: "storesAnswer",
  deleteRole: "storesAnswer",
  deleteSubscription: "storesAnswer",
  deleteTask: "storesAnswer",
  diffExperiments: "forOwner",
  disableAgent: "storesAnswer",
  disableSubscription: "storesAnswer",
  disableUser: "storesAnswer",
  downloadCheckpoint: "forOwner",
  downloadExperimentCode: "forOwner",
  downloadModelVersionCode: "forOwner",
  downloadTensorBoard: "forOwner",
  drainAgent: "storesAnswer",
  enableAgent: "storesAnswer",
  enableSubscription: "storesAnswer",
  enableUser: "storesAnswer",
  explainCheckpoint: "forOwner",
  explainJob: "forOwner",
  failCheckpoint: "forRuns storesAnswer afterTrial forTasks",
  finishDeviceLogin: "open secret ignoresKey small",
  followExperimentLogs: "forOwner",
  followMetrics: "forOwner",
  followTrialLogs: "forOwner",
  followTrialMetrics: "forOwner",
  forkExperiment: "storesAnswer forOwner",
  getBestSoFar: "forOwner",
  getCheckpoint: "forRuns afterTrial forOwner",
  getCodeFile: "forOwner",
  getCurrentSession: "withoutReadModel",
  getDeviceLogin: "withoutReadModel",
  getEvent: "withoutReadModel",
  getExperiment: "forOwner",
  getImportance: "forOwner",
  getMe: "withoutReadModel forOwner",
  getModel: "forOwner",
  getModelVersion: "forOwner",
  getParetoFront: "forOwner",
  getPool: "withoutReadModel forOwner",
  getProject: "forOwner",
  getSearchPicture: "forOwner",
  getSignals: "forRuns withoutReadModel afterTrial forTasks",
  getSubmission: "forOwner",
  getSubscription: "withoutReadModel",
  getTrial: "forOwner",
  getTrialProfile: "forOwner",
  getUser: "withoutReadModel forOwner",
  getVersion: "open withoutReadModel",
  getWorkspace: "forOwner",
  giveRole: "storesAnswer",
  killExperiment: "storesAnswer forOwner",
  killTask: "storesAnswer",
  killTrial: "storesAnswer forOwner",
  labelExperiments: "storesAnswer forOwner",
  listAgents: "forOwner",
  listCheckpoints: "forOwner",
  listCodeFiles: "forOwner",
  listDeletedExperiments: "forOwner",
  listDeliveries: "withoutReadModel",
  listExperimentLogs: "forOwner",
  listExperiments: "forOwner",
  listGrants: "withoutReadModel",
  listGroups: "withoutReadModel",
  listJobs: "forOwner",
  listModelAliasMoves: "forOwner",
  listModelVersions: "forOwner",
  listModels: "forOwner",
  listParked: "withoutReadModel",
  listPools: "withoutReadModel forOwner",
  listProjects: "forOwner",
  listRoles: "withoutReadModel",
  listSubscriptions: "withoutReadModel",
  listTensorBoardFiles: "forRuns forTasks",
  listTensorBoardTrials: "forRuns forTasks",
  listTrialLogs: "forOwner",
  listTrialMetricNames: "forOwner",
  listTrialMetrics: "forOwner",
  listTrialSystemMetrics: "forOwner",
  listTrials: "forOwner",
  listUsers: "withoutReadModel forOwner",
  listViews: "withoutReadModel",
  listWorkspaces: "forOwner",
  moveExperiments: "storesAnswer forOwner",
  moveJob: "storesAnswer forOwner",
  moveModel: "storesAnswer forOwner",
  moveModelAlias: "storesAnswer forOwner",
  pauseExperiment: "storesAnswer forOwner",
  pauseTask: "storesAnswer",
  pinCheckpoint: "storesAnswer forOwner",
  planDownload: "forRuns withoutReadModel afterTrial forTasks forOwner",
  planFiles: "forRuns storesAnswer forTasks forOwner",
  planTensorBoard: "forRuns storesAnswer afterTrial",
  planUpload: "forRuns storesAnswer afterTrial forTasks forOwner",
  postSearchOperations: "storesAnswer forOwner",
  previewRetention: "forOwner",
  queryMetrics: "forOwner",
  readCheckpointAhead: "forRuns storesAnswer forTasks",
  readTensorBoardFile: "forRuns forTasks",
  rebuildView: "storesAnswer",
  recordEnvironment: "forRuns storesAnswer afterTrial",
  redeliverEvent: "storesAnswer",
  registerModelVersion: "forRuns storesAnswer forOwner",
  releaseDeletions: "storesAnswer",
  removeAgent: "storesAnswer",
  removeModelAlias: "storesAnswer forOwner",
  removeModelVersion: "storesAnswer forOwner",
  removePool: "storesAnswer",
  renameGroup: "storesAnswer",
  reportDamagedCheckpoint: "forRuns storesAnswer",
  resetPassword: "secret ignoresKey",
  restartTrial: "storesAnswer forOwner",
  resumeTask: "storesAnswer",
  retryParked: "storesAnswer",
  revokeToken: "storesAnswer",
  rotateSecret: "secret",
  setPassword: "secret ignoresKey small",
  setRetentionPolicy: "storesAnswer forOwner",
  startDeviceLogin: "open secret ignoresKey small",
  takeRole: "storesAnswer",
  trustAgent: "storesAnswer",
  unarchiveExperiment: "storesAnswer forOwner",
  unarchiveModel: "storesAnswer forOwner",
  unarchiveProject: "storesAnswer forOwner",
  unarchiveWorkspace: "storesAnswer forOwner",
  undeleteCheckpoint: "storesAnswer forOwner",
  undeleteExperiment: "storesAnswer forOwner",
  unpinCheckpoint: "storesAnswer forOwner",
  updateExperiment: "storesAnswer forOwner",
  updateJob: "storesAnswer forOwner",
  updateModel: "storesAnswer forOwner",
  updateModelVersion: "storesAnswer forOwner",
  updatePool: "storesAnswer",
  updateProject: "storesAnswer forOwner",
  updateUser: "storesAnswer",
  updateWorkspace: "storesAnswer forOwner",
  verifyCheckpoint: "storesAnswer forOwner",
  watch: "postedRead forOwner",
  watchEvents: "withoutReadModel",
  watchSearchEvents: "forOwner",
};

const bodyLimits = new Map<number, string>([
  [BodyLimit.SMALL, "small"],
  [BodyLimit.LARGE, "large"],
]);

/** The permissions have a table of their own, beside the guard. */
function wordsOf({ bodyLimit, narrows: _narrows, ...facts }: CallFacts): string {
  const names = Object.entries(facts).flatMap(([name, holds]) => (holds === true ? [name] : []));
  return [...names, bodyLimits.get(bodyLimit) ?? ""].join(" ").trim();
}

test("each call has the facts of this table", () => {
  const found = gatewayRoutes()
    .map(({ call, facts }) => [call, wordsOf(facts)] as const)
    .filter(([, words]) => words !== "");
  expect(Object.fromEntries(found)).toEqual(said);
});

test("a call without options is closed to runs, needs a token, and its answer is not stored", () => {
  expect(wordsOf(create(CallOptionsSchema))).toBe("");
});

test("only calls that change something say what a repeat of them does", () => {
  const reads = gatewayRoutes().filter(({ method, kind }) => method === "GET" || kind !== "unary");
  for (const { call, facts } of reads) {
    expect([call, facts.storesAnswer, facts.ignoresKey]).toEqual([call, false, false]);
  }
});

test("only calls of runs say that they are allowed to the runs of tasks", () => {
  for (const { call, facts } of gatewayRoutes()) {
    expect([call, facts.forTasks && !facts.forRuns]).toEqual([call, false]);
  }
});

test("only calls of runs say that they are allowed after the end of the trial", () => {
  for (const { call, facts } of gatewayRoutes()) {
    expect([call, facts.afterTrial && !facts.forRuns]).toEqual([call, false]);
  }
});

test("a call that says that its answer has a secret cannot have it stored", () => {
  const { createToken } = ClusterService.method;
  const options = structuredClone(createToken.proto.options) ?? create(MethodOptionsSchema);
  setExtension(
    options,
    callOptions,
    create(CallOptionsSchema, { secret: true, storesAnswer: true }),
  );
  const method = { ...createToken, proto: { ...createToken.proto, options } };
  expect(() => routesOf([{ ...ClusterService, methods: [method] } as DescService])).toThrow(
    /CreateToken/,
  );
});
