/**
 * Two clusters that differ only in a hidden workspace give a stranger equal answers to every call: to the examples of
 * the API's document, and to the same requests for the hidden objects.
 */
import { randomUUID } from "node:crypto";
import type { AnyEvent } from "@trainyard/contracts";
import { pathOf, type Route } from "@trainyard/contracts/routes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created, taskCreated, trialCreated, validation } from "../../testing/example-events.ts";
import { stageExamples } from "../../testing/example-stage.ts";
import { bearer, type Fields, routes } from "../../testing/grpc-routes.ts";
import { addUser, type TestUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

type Cluster = {
  readonly gateway: TestGateway;
  readonly admin: TestUser;
  readonly stranger: TestUser;
};

const stack = new AsyncDisposableStack();
let plain: Cluster;
let secret: Cluster;

const hiddenCheckpoint = "0193c5a0-0000-4000-8000-0000000000ff";
const sha256 = "0".repeat(64);

/** The hidden objects, by the field that names one. */
const hidden: Fields = {
  experiment: "50",
  other: "50",
  experiments: ["50"],
  trial: "50.1",
  trials: ["50.1"],
  task: "t50",
  job: "50",
  run: "50.1#1",
  checkpoint: hiddenCheckpoint,
  model: "hidden-model",
  workspace: "hidden",
  sources: ["50.best"],
};

beforeAll(async () => {
  // Forks that the stranger sees: of an experiment that was deleted, and of the hidden one.
  [plain, secret] = await Promise.all([open("60"), open("50")]);
  await hide(secret);
}, 120_000);

afterAll(() => stack.disposeAsync());

async function open(parent: string): Promise<Cluster> {
  const gateway = stack.use(await startTestGateway());
  stack.use(await stageExamples(gateway));
  for (const [fork, experiment] of [
    ["51", parent],
    ["52", "55"],
  ] as const) {
    await gateway.append(`experiment-${fork}`, created({ parent: { experiment, position: "1" } }));
  }
  const admin = await addUser(gateway, "ada", { role: "cluster-admin" });
  return {
    gateway,
    admin,
    stranger: await addUser(gateway, "sy", { role: "editor", workspace: "default" }),
  };
}

/** Adds an object of each kind to a workspace that the stranger does not see. */
async function hide({ gateway, admin: { token } }: Cluster): Promise<void> {
  const made = await gateway.call("POST", "/api/v1/workspaces", {
    body: { name: "hidden" },
    token,
  });
  expect(made.status).toBe(200);
  const of = { workspace: "hidden", owner: "user:ada" };
  await gateway.append(
    "experiment-50",
    created({ name: "hidden thing", labels: ["hidden"], ...of }),
  );
  const trial = trialCreated(1);
  await gateway.append("trial-50.1", { ...trial, data: { ...trial.data, experiment: "50" } });
  await gateway.append("measurement-50.1", validation({ step: 1, loss: 0.1 }));
  const place = { trial: "50.1", run: 1, step: 1 };
  await gateway.append(
    `checkpoint-${hiddenCheckpoint}`,
    { type: "CheckpointDeclared", data: { ...place, uploadedBy: "", format: "" } },
    { type: "CheckpointCompleted", data: { ...place, files: 1, bytes: 7, manifestDigest: sha256 } },
  );
  await gateway.append("task-t50", taskCreated({ name: "hidden task", ...of }));
  const words = { description: "hidden", notes: "", labels: ["hidden"], by: "user:ada" };
  await gateway.append("model-hidden-model", {
    type: "ModelCreated",
    data: { ...words, workspace: "hidden" },
  });
  const resources = { pool: "default", slots: 2, priority: 1, weight: 1, singleAgent: true };
  const queued: AnyEvent = {
    type: "AllocationQueued",
    data: { task: "50.1", run: 1, job: "50", resources, ...of, preemptible: true, delayMs: 0 },
  };
  const position = await gateway.append("allocation-50.1#1", queued);
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`, { token });
}

type Seen = { readonly status: number; readonly answer: string };

async function ask({ gateway, stranger }: Cluster, route: Route, fields: Fields): Promise<Seen> {
  const rest = Object.entries(fields).filter(([name]) => !route.pathFields.includes(name));
  const body = route.hasBody ? JSON.stringify(Object.fromEntries(rest)) : undefined;
  const query = new URLSearchParams();
  if (!route.hasBody) {
    for (const [name, value] of rest) {
      for (const one of [value].flat()) query.append(name, String(one));
    }
  }
  const leave = AbortSignal.timeout(10_000);
  const answer = await fetch(`${gateway.url}${pathOf(route, fields)}?${query}`, {
    method: route.method,
    headers: {
      ...bearer(stranger.token),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body }),
    signal: leave,
  });
  const text = route.kind === "stream" && answer.ok ? await begin(answer) : await answer.text();
  return {
    status: answer.status,
    answer: masked(`${text} ${answer.headers.get("etag") !== null}`),
  };
}

/** Returns the text that a stream sends at once. */
async function begin(answer: Response): Promise<string> {
  const reader = answer.body?.getReader();
  const quiet = new Promise<{ value?: Uint8Array }>((resolve) =>
    setTimeout(() => resolve({}), 300),
  );
  let text = "";
  for (;;) {
    const { value } = (await Promise.race([reader?.read(), quiet])) ?? {};
    if (value === undefined) break;
    text += Buffer.from(value).toString();
  }
  await reader?.cancel();
  return text;
}

/** Masks what differs between any two clusters: times, random ids, seeds and folders, positions and cursors. */
function masked(text: string): string {
  return (
    text
      .replace(
        /"(position|nextPageToken|sequence|epoch|log|cursor|etag|streamPositions?|id|head|clusterId|seed|experiment_seed)":\s*("[^"]*"|\{[^}]*\}|\d+)/g,
        '"$1":0',
      )
      // The event that creates a fork has the number of its parent.
      .replace(/\\*"parent\\*":\{\\*"experiment\\*":\\*"\d+\\*"/g, "PARENT")
      .replace(/,"lastUsedAtMs":\d+/g, "")
      .replace(/trainyard-gateway-\w+/g, "FOLDER")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      .replace(/\b1[6-9]\d{11}(\.\d+)?\b/g, "MS")
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (id) =>
        id.startsWith("0193c5a0") ? id : "UUID",
      )
      .replace(/\b[0-9a-f]{12,64}\b/g, "HEX")
      .replace(/^id: .*$/gm, "id: 0")
      // A stream also says how far it has read, without an event.
      .replace(/^id: 0\n\n/gm, "")
  );
}

/** The calls whose answers are bytes of the clock or of the process, or which change who may do what. */
const leftOut: ReadonlySet<string> = new Set(["getVersion", "startDeviceLogin", "setPassword"]);

async function differences(fieldsOf: (route: Route) => Fields | null): Promise<readonly string[]> {
  const found: string[] = [];
  for (const route of routes) {
    const fields = leftOut.has(route.call) ? null : fieldsOf(route);
    if (fields === null) continue;
    const seen = await Promise.all([ask(plain, route, fields), ask(secret, route, fields)]);
    if (JSON.stringify(seen[0]) === JSON.stringify(seen[1])) continue;
    found.push(`${route.call} ${JSON.stringify(fields)}: ${firstDifference(seen)}`);
  }
  return found;
}

/** Returns the texts around the first place in which two answers differ. */
function firstDifference(seen: readonly Seen[]): string {
  const [one = "", other = ""] = seen.map(({ status, answer }) => `${status} ${answer}`);
  const at = [...one].findIndex((character, place) => character !== other[place]);
  return [one, other].map((text) => text.slice(Math.max(0, at - 150), at + 150)).join("\n");
}

const isList = ({ method, facts }: Route): boolean => method === "GET" || facts.postedRead;

test("a stranger's lists, suggestions and streams have nothing of a hidden workspace", async () => {
  const asked = (route: Route): Fields | null => {
    if (!isList(route) || route.pathFields.length > 0) return null;
    const names = new Set(route.request.fields.map(({ localName }) => localName));
    return {
      ...(names.has("count") && { count: true }),
      ...(names.has("archived") && { archived: true }),
      ...(names.has("noFollow") && { noFollow: true }),
      ...(names.has("topics") && {
        topics: ["experiments", "tasks", "models", "jobs", "workspaces"].map((kind) => ({ kind })),
      }),
      ...(names.has("trials") && { trials: ["1.1"], names: ["loss"] }),
      ...(names.has("sources") && { sources: ["1.1"] }),
    };
  };
  expect(await differences(asked)).toEqual([]);
}, 120_000);

test("a stranger's calls for hidden objects are answered as for objects that do not exist", async () => {
  const asked = (route: Route): Fields | null => {
    const named = route.request.fields
      .map(({ localName }) => localName)
      .filter((name) => Object.hasOwn(hidden, name));
    if (named.length === 0) return null;
    const rest = Object.fromEntries(
      route.pathFields.filter((name) => !named.includes(name)).map((name) => [name, "1"]),
    );
    return { ...rest, ...Object.fromEntries(named.map((name) => [name, hidden[name]])) };
  };
  expect(await differences(asked)).toEqual([]);
}, 120_000);

test("a stranger's filters match nothing of a hidden workspace", async () => {
  const filters = ["workspace = hidden", "labels = hidden", 'name = "hidden thing"', "owner = ada"];
  const found: string[] = [];
  for (const path of ["experiments", "tasks", "models", "jobs"]) {
    for (const filter of filters) {
      const query = new URLSearchParams({ filter, count: "true" });
      const [one, other] = await Promise.all(
        [plain, secret].map(({ gateway, stranger }) =>
          gateway.call("GET", `/api/v1/${path}?${query}`, { token: stranger.token }),
        ),
      );
      const texts = [one, other].map((answer) =>
        masked(JSON.stringify([answer?.status, answer?.body])),
      );
      if (texts[0] !== texts[1]) found.push(`${path} ${filter}: ${texts.join("\n")}`);
    }
  }
  expect(found).toEqual([]);
});

test("a hidden parent of a fork is neither matched nor sorted by", async () => {
  for (const query of [
    { filter: "parent = 50" },
    { filter: "parent != 50" },
    { filter: "parent : 5" },
    { filter: "parent = deleted" },
    { filter: "parent : *", orderBy: "parent desc" },
  ]) {
    const asked = new URLSearchParams({ ...query, count: "true" });
    const [one, other] = await Promise.all(
      [plain, secret].map(async ({ gateway, stranger: { token } }) => {
        const { body } = await gateway.call("GET", `/api/v1/experiments?${asked}`, { token });
        return {
          total: body["total"],
          ids: (body["items"] as { id: string }[]).map(({ id }) => id),
        };
      }),
    );
    expect([query, other]).toEqual([query, one]);
  }
});

test("a name of a hidden workspace that is taken is said to be taken", async () => {
  const { gateway } = secret;
  const creator = await addUser(gateway, `cy-${randomUUID().slice(0, 4)}`, {
    role: "workspace-creator",
  });
  const taken = await gateway.call("POST", "/api/v1/workspaces", {
    body: { name: "Hidden" },
    token: creator.token,
  });
  expect(taken).toMatchObject({ status: 409, body: { code: "workspace_exists" } });
});
