/** A caller loses its rights with everything open at once: two tabs, followers over gRPC, and a large download. */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created, requested, trialCreated } from "../testing/example-events.ts";
import { type GrpcAnswer, GrpcConnection } from "../testing/grpc-call.ts";
import { bearer, bytesOf, methodOf, routes } from "../testing/grpc-routes.ts";
import { addUser, type TestUser } from "../testing/people.ts";
import { openStream } from "../testing/streams.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { WatchTab } from "../testing/watch-tab.ts";

const by = "user:root";
const within = { timeout: 5_000, interval: 50 };
const checkpoint = randomUUID();
const bytes = 12 * 1024 * 1024;

const topics = [
  { kind: "experiments" },
  { kind: "experiments", id: "1" },
  { kind: "trials", experiment: "1" },
  { kind: "points", experiment: "1" },
  { kind: "lines", experiment: "1" },
];

let gateway: TestGateway;
const stack = new AsyncDisposableStack();
/** The number of questions for points and lines. */
const asked = { points: 0, lines: 0 };

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  for (const name of ["Vision", "Speech"]) {
    await gateway.call("POST", "/api/v1/workspaces", { body: { name } });
  }
  const manifest = [{ path: "weights", bytes, sha256: "0".repeat(64), partSha256: [], md5: "" }];
  const path = join(gateway.checkpointDir, checkpoint);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "weights"), randomBytes(bytes));
  stack.use(
    await gateway.serving("registry", {
      PlanCheckpointDownload: async () => ({ checkpoint, path, store: "", manifest }),
    }),
  );
  stack.use(
    await gateway.serving("logs", {
      QueryLines: async () => {
        asked.lines += 1;
        return { lines: [], next: "", more: false } as never;
      },
    }),
  );
  stack.use(
    await gateway.serving("metrics", {
      QueryStreamedPoints: async () => {
        asked.points += 1;
        return { items: [], next: 0, more: false } as never;
      },
    }),
  );
  await gateway.append("experiment-1", created({ workspace: "Vision" }));
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  const place = { trial: "1.1", run: 1, step: 1 };
  const position = await gateway.append(
    `checkpoint-${checkpoint}`,
    { type: "CheckpointDeclared", data: { ...place, uploadedBy: "", format: "" } },
    {
      type: "CheckpointCompleted",
      data: { ...place, files: 1, bytes, manifestDigest: "0".repeat(64) },
    },
  );
  await gateway.call("GET", `/api/v1/trials/1.1?minPosition=${position}`);
  await addUser(gateway, "root", { role: "cluster-admin" });
}, 60_000);
afterAll(() => stack.disposeAsync());

/** Adds a user who sees Vision by a grant of the user's name. */
async function addViewer(name: string): Promise<TestUser> {
  const viewer = await addUser(gateway, name);
  await gateway.append("access-cluster", {
    type: "RoleGiven",
    data: { grant: name, role: "viewer", user: name, group: "", workspace: "Vision", by },
  });
  const { token } = viewer;
  await expect
    .poll(async () => (await gateway.call("GET", "/api/v1/trials/1.1", { token })).status, within)
    .toBe(200);
  return viewer;
}

type Opened = {
  readonly tabs: readonly WatchTab[];
  readonly followers: readonly Promise<GrpcAnswer>[];
  /** Whether the download arrived whole, or was cut, once it is read. */
  readonly download: () => Promise<string>;
};

async function openAll({ token }: TestUser, own: DisposableStack): Promise<Opened> {
  const caller = { url: gateway.url, token };
  const open = () => own.use(WatchTab.open(caller, topics)).opened();
  const tabs = [await open(), await open()];
  const connection = own.use(new GrpcConnection(gateway.grpcUrl));
  const before = { ...asked };
  const followers = ["FollowTrialMetrics", "FollowTrialLogs"].map((name) => {
    const route = routes.find((one) => one.name === name);
    if (route === undefined) throw new Error(`there is no call ${name}`);
    const messages = [bytesOf(route.request, { trial: "1.1" })];
    return connection.call(methodOf(route), { messages, headers: bearer(token), untilMs: 20_000 });
  });
  await expect
    .poll(() => asked.points > before.points && asked.lines > before.lines, within)
    .toBe(true);
  const archive = await openStream(caller, `/api/v1/checkpoints/${checkpoint}/archive`);
  expect(archive.statusCode).toBe(200);
  const end = new Promise<string>((resolve) => {
    archive.once("error", () => resolve("cut")).once("end", () => resolve("whole"));
  });
  const download = (): Promise<string> => {
    archive.resume();
    return end;
  };
  return { tabs, followers, download };
}

test.each([
  {
    cause: "a lost role",
    lose: ({ id }: TestUser) =>
      gateway.append("access-cluster", { type: "RoleTaken", data: { grant: id, by } }),
    code: "trial_not_found",
    said: ["gone 1 1", "reset 0", "reset 2", "reset 3", "reset 4"],
  },
  {
    cause: "a disabled user",
    lose: ({ id }: TestUser) =>
      gateway.append(`user-${id}`, { type: "UserDisabled", data: { reason: "", by } }),
    code: "user_disabled",
    said: [],
  },
  {
    cause: "a move",
    lose: () =>
      gateway.append("experiment-1", {
        type: "ExperimentMoved",
        data: { workspace: "Speech", project: "default" },
      }),
    code: "trial_not_found",
    said: ["gone 0 1", "gone 1 1", "reset 2", "reset 3", "reset 4"],
  },
])(
  "after $cause two tabs, followers of points and lines and a download end or lose their rows within 5 s",
  async ({ cause, lose, code, said }) => {
    using own = new DisposableStack();
    const viewer = await addViewer(`viewer-${cause.split(" ")[1] ?? ""}`);
    const other = await addViewer(`other-${cause.split(" ")[1] ?? ""}`);
    const [{ tabs, followers, download }, bystander] = [
      await openAll(viewer, own),
      await openAll(other, own),
    ];
    await lose(viewer);
    const started = performance.now();
    const ends = await Promise.all(followers);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(ends.map(({ metadata }) => metadata["trainyard-code"])).toEqual([code, code]);
    for (const tab of tabs) {
      if (code === "user_disabled") await expect.poll(() => tab.hasEnded, within).toBe(true);
      else await expect.poll(() => [...new Set(tab.said)].toSorted(), within).toEqual(said);
    }
    expect(await download()).toBe("cut");
    const isMove = cause === "a move";
    expect(bystander.tabs.every(({ said: frames }) => frames.length > 0)).toBe(isMove);
    expect(await bystander.download()).toBe(isMove ? "cut" : "whole");
  },
);
