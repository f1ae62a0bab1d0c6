/**
 * A workspace `lab` with objects of each kind of another person, of an editor and of runs, and a caller of each kind.
 * They are beside the objects of the examples.
 */
import { type AnyEvent, decodeEvent, type EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { callers, type MatrixCaller } from "../api/rights/matrix.ts";
import {
  created,
  requested,
  searchStarted,
  taskCreated,
  trialCreated,
  validation,
} from "./example-events.ts";
import { addToken, addUser, type TestUser } from "./people.ts";
import type { TestGateway } from "./test-gateway.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The values of requests: those of fields in all calls, and those of single calls. */
export type LabObjects = { readonly fields: Fields; readonly of: Readonly<Record<string, Fields>> };

export type Lab = {
  readonly tokenOf: (caller: MatrixCaller) => string;
  readonly objectsOf: (caller: MatrixCaller) => LabObjects;
  /** Objects that do not exist. */
  readonly nowhere: LabObjects;
  /** The calls whose answers have the object, or have not. */
  readonly lists: ReadonlySet<string>;
  /** The lists that name no object. */
  readonly plainLists: ReadonlySet<string>;
  /** The codes of refusals that have other reasons than rights. */
  readonly domainRefusals: Readonly<Record<string, string>>;
  /** Returns the code with which a batch refuses its item; null if it does not. */
  readonly refusalIn: (answer: Fields) => string | null;
  /** Whether a creation is refused because its workspace is unknown. */
  readonly isUnknownPlace: (answer: Fields) => boolean;
  /** Whether an answer mentions an object of the lab. */
  readonly mentions: (text: string) => boolean;
  /** Returns an answer without what differs between two requests: names, positions and times. */
  readonly withoutNames: (text: string) => string;
};

const plainLists = new Set([
  "ListExperiments",
  "ListDeletedExperiments",
  "ListJobs",
  "ListModels",
  "ListTasks",
  "ListWorkspaces",
  "ListEvents",
]);

const lab = "lab";
const sha256 = "0".repeat(64);
const checkpointOf = (number: number) => `0193c5a0-00${number}-4000-8000-000000000001`;

/** An experiment whose number is that of its task, with a trial, a checkpoint, a job and a model. */
const objects = (number: number, model: string, workspace = lab): LabObjects => {
  const experiment = String(number);
  const trial = `${number}.1`;
  const checkpoint = checkpointOf(number);
  const task = `t${number}`;
  const fields = {
    ...{ experiment, trial, checkpoint, task, model, workspace },
    ...{ experiments: [experiment], trials: [trial], sources: [trial], other: experiment },
    ...{ run: `${trial}#1`, job: experiment, anchor: "1", project: "vision" },
  };
  const config = `entrypoint: x\nsearcher: {name: single, metric: loss, max_time: 4}\nworkspace: ${workspace}\n`;
  return {
    fields,
    of: {
      CreateExperiment: { config },
      ForkExperiment: { config, overrides: [], checkpoint: "" },
      CreateTask: { sources: [], kind: "command", config: "" },
    },
  };
};

const nowhere = objects(99, "nowhere-model", "nowhere");

/** The objects of calls that name none of the lab. */
const ofNobody = {
  RevokeToken: { token: "0000000000000000" },
  TakeRole: { grant: "nowhere" },
  GetUser: { user: "nowhere" },
  UpdateUser: { user: "nowhere" },
  GetEvent: { position: 99_999 },
  ListEvents: { object: "experiment", id: "99" },
};

function namedBy(caller: MatrixCaller): LabObjects {
  if (caller === "own") return objects(12, "lab-own");
  return caller === "ended run" ? objects(14, "lab-ended") : objects(11, "lab-seen");
}

const domainRefusals = {
  // The simulated service keeps no new subscription.
  CreateSubscription: "subscription_not_found",
  FinishDeviceLogin: "expired_token",
  GetDeviceLogin: "no_such_code",
  GetTaskUse: "task_not_running",
  SetPassword: "wrong_password",
  DownloadTensorBoard: "tensorboard_not_found",
};

export async function stageLab(gateway: TestGateway): Promise<Lab> {
  const workspace = lab;
  await gateway.call("POST", "/api/v1/workspaces", { body: { name: workspace } });
  const projects = `/api/v1/workspaces/${workspace}/projects`;
  await gateway.call("POST", projects, { body: { name: "vision" } });
  const admin = await addUser(gateway, "root", { role: "cluster-admin" });
  const own = await addUser(gateway, "ed", { role: "editor", workspace });
  for (const [number, owner, model] of [
    [11, "user:someone", "lab-seen"],
    [12, `user:${own.id}`, "lab-own"],
    [14, "user:someone", "lab-ended"],
  ] as const) {
    await appendObjects(gateway, { number, owner, model });
  }
  await appendDeleted(gateway);
  await addUser(gateway, "someone");
  await gateway.append("access-cluster", ...callers.map(takenBy));
  const ended = { outcome: TrialOutcome.COMPLETED, reason: "", restarts: 0 };
  await gateway.append("trial-14.1", { type: "TrialEnded", data: ended });
  const users = await addCallers(gateway, admin, own);
  const tokens = await addTokens(gateway);
  const tokenOf = (caller: MatrixCaller) => tokens[caller] ?? users[caller]?.token ?? "";
  const [created11] = await gateway.log.read("experiment-11", 0, 1);
  const victim = (await addToken(gateway, "user:someone")).split("_")[1] ?? "";
  /** The objects that only one caller can make, has, or names. */
  const ofCaller = (caller: MatrixCaller) => ({
    CreateSession: { token: tokenOf(caller) },
    CreateWorkspace: { name: `made by ${caller}` },
    CreateProject: { name: `made by ${caller}` },
    CreateUser: { name: `made-by-${caller.replace(" ", "-")}` },
    TakeRole: { grant: grantOf(caller) },
    CreateGroup: { name: `made by ${caller}` },
    RevokeToken: { token: victim },
    GetEvent: { position: created11?.position },
    ListEvents: { object: "experiment", id: "11" },
    ...Object.fromEntries(
      ["GetUser", "UpdateUser", "DisableUser", "EnableUser", "ResetPassword"].map((name) => [
        name,
        { user: "someone" },
      ]),
    ),
  });
  return {
    tokenOf,
    objectsOf: (caller) => {
      const named = namedBy(caller);
      return { ...named, of: { ...named.of, ...ofCaller(caller) } };
    },
    nowhere: { ...nowhere, of: { ...nowhere.of, ...ofNobody } },
    lists: new Set([...plainLists, "CompareTrials"]),
    plainLists,
    domainRefusals,
    refusalIn: ({ items }) => {
      const [item] = Array.isArray(items) ? (items as Fields[]) : [];
      return item?.["outcome"] === "refused" ? String(item["code"]) : null;
    },
    isUnknownPlace: ({ code }) => code === "workspace_not_found",
    mentions: (text) => text.includes(`"${workspace}"`) || text.includes('"id":"13"'),
    withoutNames: (text) => text.replaceAll(/\b(lab|nowhere)(-\w+)?\b|\b[0-9a-f]{16}\b|\d+/g, "0"),
  };
}

/** Adds a user for each role that the callers have. */
async function addCallers(
  gateway: TestGateway,
  admin: TestUser,
  own: TestUser,
): Promise<Readonly<Partial<Record<MatrixCaller, TestUser>>>> {
  const inLab = async (name: string, role: string): Promise<TestUser> =>
    addUser(gateway, name, { role, workspace: lab });
  return {
    "cluster-admin": admin,
    "workspace-admin": await inLab("wes", "workspace-admin"),
    editor: await inLab("eve", "editor"),
    own,
    "restricted-editor": await inLab("rex", "restricted-editor"),
    viewer: await inLab("vi", "viewer"),
    "registry-viewer": await inLab("reg", "registry-viewer"),
    "workspace-creator": await addUser(gateway, "wil", { role: "workspace-creator" }),
    "no role": await addUser(gateway, "nora"),
  };
}

/** Makes the tokens of the callers that are no users of their own. */
async function addTokens(
  gateway: TestGateway,
): Promise<Readonly<Partial<Record<MatrixCaller, string>>>> {
  const limits = [{ role: "viewer", workspaces: [lab] }];
  const expired = await addToken(gateway, "user:root", [], 1);
  const revoked = await addToken(gateway, "user:root");
  const tokens: Readonly<Partial<Record<MatrixCaller, string>>> = {
    "limited token": await addToken(gateway, "user:root", limits),
    "expired token": expired,
    "revoked token": revoked,
    "living run": await gateway.runToken("11.1#1"),
    "ended run": await gateway.runToken("14.1#1"),
  };
  const position = await gateway.append(`token-${revoked.split("_")[1]}`, {
    type: "TokenRevoked",
    data: { reason: "" },
  });
  await gateway.call("GET", `/api/v1/tokens?minPosition=${position}`);
  return tokens;
}

const grantOf = (caller: MatrixCaller): string => `lab-${callers.indexOf(caller)}`;

/** A role in the lab that a caller may try to take. */
const takenBy = (caller: MatrixCaller): AnyEvent => ({
  type: "RoleGiven",
  data: {
    ...{ grant: grantOf(caller), role: "viewer", user: `gone ${caller}`, group: "" },
    ...{ workspace: lab, by: "user:root" },
  },
});

async function appendObjects(
  gateway: TestGateway,
  {
    number,
    owner,
    model,
  }: { readonly number: number; readonly owner: string; readonly model: string },
): Promise<void> {
  const [first] = await gateway.log.read("experiment-1", 0, 1);
  const example = first === undefined ? null : decodeEvent(first);
  const data = example?.data as EventData<"ExperimentCreated">;
  const workspace = lab;
  const experiment = String(number);
  const trial = `${number}.1`;
  const checkpoint = checkpointOf(number);
  await gateway.append(
    `experiment-${number}`,
    created({ ...data, owner, workspace, project: "vision" }),
  );
  await gateway.append(`search-${number}`, searchStarted());
  const run = requested(1, 0);
  await gateway.append(
    `trial-${trial}`,
    { type: "TrialCreated", data: { ...trialCreated(1).data, experiment } },
    { type: "RunRequested", data: { ...run.data, experiment, workspace, owner } },
    { type: "RunStarted", data: { run: 1, allocation: `${trial}#1` } },
  );
  const { data: measured } = validation({ step: 1, loss: 0.5 });
  await gateway.append(`measurement-${trial}`, {
    type: "ValidationReported",
    data: { ...measured, trial },
  });
  const place = { trial, run: 1, step: 1 };
  await gateway.append(
    `checkpoint-${checkpoint}`,
    { type: "CheckpointDeclared", data: { ...place, uploadedBy: "", format: "" } },
    { type: "CheckpointCompleted", data: { ...place, files: 1, bytes: 7, manifestDigest: sha256 } },
  );
  const config = { environment: { proxy_ports: [{ proxy_port: 8888 }] } };
  await gateway.append(`task-t${number}`, taskCreated({ config, workspace, owner }));
  await gateway.append(`allocation-${trial}#1`, {
    type: "AllocationQueued",
    data: { task: trial, run: 1, job: experiment, resources, workspace, owner, ...delays },
  });
  const words = { description: "", notes: "", labels: [] as string[], by: owner };
  const position = await gateway.append(
    `model-${model}`,
    { type: "ModelCreated", data: { ...words, workspace } },
    {
      type: "VersionRegistered",
      data: {
        ...{ checkpoint, ...place, semanticVersion: "" },
        ...{ metrics: { loss: 0.5 }, number: 1, ...words },
      },
    },
  );
  await gateway.call("GET", `/api/v1/models/${model}?minPosition=${position}`);
}

const delays = { preemptible: true, delayMs: 0 };
const resources = {
  ...{ pool: "default", slots: 2, singleAgent: false, priority: 50, weight: 1 },
} as const;

/** An experiment that is deleted and can be restored. */
async function appendDeleted(gateway: TestGateway): Promise<void> {
  await gateway.append(
    "experiment-13",
    created({ owner: "user:someone", workspace: lab, project: "vision" }),
    {
      type: "ExperimentDeletionRequested",
      data: { reason: "", graceEndMs: 9e12 },
    },
  );
}
