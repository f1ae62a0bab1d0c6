import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  created,
  requested,
  searchStarted,
  taskCreated,
  trialCreated,
} from "../testing/example-events.ts";
import { GrpcConnection } from "../testing/grpc-call.ts";
import { bearer, bytesOf, methodOf, routes } from "../testing/grpc-routes.ts";
import { addUser, type TestUser } from "../testing/people.ts";
import { openBelow, openStream, restOf, StreamText } from "../testing/streams.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

const by = "user:root";
const within = { timeout: 5_000, interval: 50 };

const paths = [
  "/api/v1/trials/1.1/logs:follow",
  "/api/v1/experiments/1/logs:follow",
  "/api/v1/experiments/1/metrics:follow",
  "/api/v1/trials/1.1/metrics:follow",
  "/api/v1/experiments/1/search/events",
  "/api/v1/tasks/t1/logs:follow",
];

let gateway: TestGateway;
let admin: TestUser;
let viewer: TestUser;
const stack = new AsyncDisposableStack();
let people = 0;
/** The number of queries to the metrics service. */
let looks = 0;

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  for (const name of ["Vision", "Speech"]) {
    await gateway.call("POST", "/api/v1/workspaces", { body: { name } });
  }
  stack.use(
    await gateway.serving("logs", {
      QueryLines: async () => ({ lines: [], next: "", more: false }) as never,
    }),
  );
  stack.use(
    await gateway.serving("metrics", {
      QueryStreamedPoints: async () => {
        looks += 1;
        return { items: [], next: 0, more: false } as never;
      },
    }),
  );
  await gateway.append("experiment-1", created({ workspace: "Vision" }));
  await gateway.append("search-1", searchStarted());
  await gateway.append("task-t1", taskCreated({ workspace: "Vision" }));
  const position = await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.call("GET", `/api/v1/trials/1.1?minPosition=${position}`);
  admin = await addUser(gateway, "root", { role: "cluster-admin" });
}, 60_000);
afterAll(() => stack.disposeAsync());

beforeEach(async () => {
  people += 1;
  viewer = await addUser(gateway, `viewer-${people}`);
  await give(viewer);
  await expect
    .poll(
      async () => (await gateway.call("GET", "/api/v1/trials/1.1", { token: viewer.token })).status,
      within,
    )
    .toBe(200);
});

const give = ({ id: user }: TestUser) =>
  gateway.append("access-cluster", {
    type: "RoleGiven",
    data: { grant: `g-${user}`, role: "viewer", user, group: "", workspace: "Vision", by },
  });
const take = ({ id }: TestUser) =>
  gateway.append("access-cluster", { type: "RoleTaken", data: { grant: `g-${id}`, by } });
const move = (workspace: string) =>
  gateway.append("experiment-1", {
    type: "ExperimentMoved",
    data: { workspace, project: "default" },
  });
const streamOf = ({ token }: TestUser, path: string) =>
  openStream({ url: gateway.url, token }, path);

/** Opens all streams of a user. Returns their texts once they have begun. */
async function follow(user: TestUser, some = paths): Promise<readonly StreamText[]> {
  const streams = await Promise.all(some.map((path) => streamOf(user, path)));
  expect(streams.map(({ statusCode }) => statusCode)).toEqual(some.map(() => 200));
  const texts = streams.map((stream) => new StreamText(stream));
  await expect.poll(() => texts.every(({ text }) => text.includes("trainyard")), within).toBe(true);
  return texts;
}

const problemsIn = (texts: readonly StreamText[]) =>
  texts.map(({ text }) => /event: problem\ndata: .*"code":"(\w+)"/.exec(text)?.[1] ?? "open");

const missing = [...paths.slice(0, -1).map((path) => missingOf(path)), "task_not_found"];

function missingOf(path: string): string {
  return path.includes("/trials/") ? "trial_not_found" : "experiment_not_found";
}

test("the streams of a caller who loses its role end with the refusal that the call would get now", async () => {
  const own = await follow(viewer);
  const others = await follow(admin);
  await take(viewer);
  await expect.poll(() => problemsIn(own), within).toEqual(missing);
  const again = await gateway.call("GET", "/api/v1/trials/1.1", { token: viewer.token });
  expect(again.body).toMatchObject({ code: "trial_not_found" });
  expect(problemsIn(others)).toEqual(paths.map(() => "open"));
});

test("the streams of an experiment that is moved out of sight end", async () => {
  const own = await follow(viewer);
  await move("Speech");
  await expect.poll(() => problemsIn(own).slice(0, -1), within).toEqual(missing.slice(0, -1));
  expect(problemsIn(own).at(-1)).toBe("open");
  await move("Vision");
});

test("all streams of a disabled user end", async () => {
  const own = await follow(viewer, [...paths, "/api/v1/events"]);
  await gateway.append(`user-${viewer.id}`, { type: "UserDisabled", data: { reason: "", by } });
  await expect
    .poll(() => problemsIn(own), within)
    .toEqual([...paths, "events"].map(() => "user_disabled"));
});

test("a stream over gRPC ends with the refusal", async () => {
  using connection = new GrpcConnection(gateway.grpcUrl);
  const route = routes.find(({ name }) => name === "FollowTrialMetrics");
  if (route === undefined) throw new Error("no such route");
  const before = looks;
  const ended = connection.call(methodOf(route), {
    messages: [bytesOf(route.request, { trial: "1.1" })],
    headers: bearer(viewer.token),
    untilMs: 20_000,
  });
  await expect.poll(() => looks, within).toBeGreaterThan(before);
  await take(viewer);
  const { code, metadata } = await ended;
  expect([code, metadata["trainyard-code"]]).toEqual([5, "trial_not_found"]);
});

test("a running download is cut", async () => {
  const log = String((await gateway.call("GET", "/api/v1/version")).body["log"]);
  const folder = join(gateway.checkpointDir, "tensorboard", log, "experiment/1/trial/1.1");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "events"), randomBytes(12 * 1024 * 1024));
  const path = "/api/v1/trials/1.1/tensorboard";
  const cut = await streamOf(viewer, path);
  expect(cut.statusCode).toBe(200);
  const broken = new Promise<string>((resolve) => {
    cut.once("error", () => resolve("cut")).once("end", () => resolve("whole"));
  });
  await take(viewer);
  await expect.poll(() => openBelow(folder), within).toEqual([]);
  cut.resume();
  expect(await broken).toBe("cut");
  const whole = await restOf(await streamOf(admin, path));
  expect(whole.length).toBeGreaterThan(12 * 1024 * 1024);
});

test("a kept answer of an idempotency key is returned only to a caller who may still make the call", async () => {
  const creator = await addUser(gateway, "creator");
  const role = { role: "workspace-creator", user: creator.id, group: "", workspace: "", by };
  await gateway.append("access-cluster", { type: "RoleGiven", data: { grant: "g-c", ...role } });
  const create = () =>
    gateway.call("POST", "/api/v1/workspaces", {
      body: { name: "Kept" },
      token: creator.token,
      headers: { "idempotency-key": "one" },
    });
  await expect.poll(async () => (await create()).status, within).toBe(200);
  expect((await create()).status).toBe(200);
  await gateway.append("access-cluster", { type: "RoleTaken", data: { grant: "g-c", by } });
  await expect.poll(async () => (await create()).body["code"], within).toBe("not_allowed");
});
