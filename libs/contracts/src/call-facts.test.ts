import { create, type DescService, setExtension } from "@bufbuild/protobuf";
import { MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ClusterService } from "./gen/trainyard/api/v1/cluster_pb.ts";
import { call as callOptions, CallOptionsSchema } from "./gen/trainyard/options/v1/call_pb.ts";
import { BodyLimit, type CallFacts, gatewayRoutes, routesOf } from "./routes.ts";

/** The calls that say something in their options, with what they say. A review sees each change of an option here. */
const said: Readonly<Record<string, string>> = {
  actOnExperiments: "storesAnswer",
  activateExperiment: "storesAnswer",
  adoptStorage: "storesAnswer",
  archiveExperiment: "storesAnswer",
  archiveModel: "storesAnswer",
  archiveProject: "storesAnswer",
  archiveWorkspace: "storesAnswer",
  auditStorage: "storesAnswer",
  cancelExperiment: "storesAnswer",
  completeCheckpoint: "forRuns storesAnswer afterTrial forTasks",
  continueExperiment: "storesAnswer",
  createExperiment: "storesAnswer large",
  createModel: "storesAnswer",
  createPool: "storesAnswer",
  createProject: "storesAnswer",
  createSession: "signsIn secret ignoresKey small",
  createSessionCode: "secret ignoresKey",
  createTask: "storesAnswer large",
  createTaskSession: "secret ignoresKey",
  createToken: "secret",
  createWorkspace: "storesAnswer",
  declareCheckpoint: "forRuns storesAnswer afterTrial forTasks",
  deleteCheckpoint: "storesAnswer",
  deleteCurrentSession: "ignoresKey",
  deleteExperiment: "storesAnswer",
  deleteTask: "storesAnswer",
  disableAgent: "storesAnswer",
  drainAgent: "storesAnswer",
  enableAgent: "storesAnswer",
  failCheckpoint: "forRuns storesAnswer afterTrial forTasks",
  forkExperiment: "storesAnswer",
  getCheckpoint: "forRuns afterTrial",
  getCurrentSession: "withoutReadModel",
  getPool: "withoutReadModel",
  getSignals: "forRuns withoutReadModel afterTrial forTasks",
  getVersion: "open withoutReadModel",
  killExperiment: "storesAnswer",
  killTask: "storesAnswer",
  killTrial: "storesAnswer",
  labelExperiments: "storesAnswer",
  listParked: "withoutReadModel",
  listPools: "withoutReadModel",
  listViews: "withoutReadModel",
  moveExperiments: "storesAnswer",
  moveJob: "storesAnswer",
  moveModel: "storesAnswer",
  moveModelAlias: "storesAnswer",
  pauseExperiment: "storesAnswer",
  pauseTask: "storesAnswer",
  pinCheckpoint: "storesAnswer",
  planDownload: "forRuns withoutReadModel afterTrial forTasks",
  planFiles: "forRuns storesAnswer forTasks",
  planTensorBoard: "forRuns storesAnswer afterTrial",
  planUpload: "forRuns storesAnswer afterTrial forTasks",
  postSearchOperations: "storesAnswer",
  readCheckpointAhead: "forRuns storesAnswer forTasks",
  rebuildView: "storesAnswer",
  recordEnvironment: "forRuns storesAnswer afterTrial",
  registerModelVersion: "forRuns storesAnswer",
  releaseDeletions: "storesAnswer",
  removeAgent: "storesAnswer",
  removeModelAlias: "storesAnswer",
  removeModelVersion: "storesAnswer",
  removePool: "storesAnswer",
  reportDamagedCheckpoint: "forRuns storesAnswer",
  resumeTask: "storesAnswer",
  restartTrial: "storesAnswer",
  retryParked: "storesAnswer",
  revokeToken: "storesAnswer",
  setRetentionPolicy: "storesAnswer",
  trustAgent: "storesAnswer",
  unarchiveExperiment: "storesAnswer",
  unarchiveModel: "storesAnswer",
  unarchiveProject: "storesAnswer",
  unarchiveWorkspace: "storesAnswer",
  undeleteCheckpoint: "storesAnswer",
  undeleteExperiment: "storesAnswer",
  unpinCheckpoint: "storesAnswer",
  updateExperiment: "storesAnswer",
  updateJob: "storesAnswer",
  updateModel: "storesAnswer",
  updateModelVersion: "storesAnswer",
  updatePool: "storesAnswer",
  updateProject: "storesAnswer",
  updateWorkspace: "storesAnswer",
  verifyCheckpoint: "storesAnswer",
  watch: "postedRead",
  watchEvents: "withoutReadModel",
};

const bodyLimits = new Map<number, string>([
  [BodyLimit.SMALL, "small"],
  [BodyLimit.LARGE, "large"],
]);

function wordsOf({ bodyLimit, ...facts }: CallFacts): string {
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
