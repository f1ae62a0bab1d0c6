import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { created, requested, trialCreated } from "../../testing/example-events.ts";
import { addUser, type TestUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";
import { WatchTab } from "../../testing/watch-tab.ts";

const by = "user:root";
const within = { timeout: 5_000, interval: 50 };

let gateway: TestGateway;
let admin: TestUser;
let viewer: TestUser;
let people = 0;
let tabs = new DisposableStack();
/** The number of points that the metrics service has. */
let points = 0;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  for (const name of ["Vision", "Speech"]) {
    await gateway.call("POST", "/api/v1/workspaces", { body: { name } });
  }
  stack.use(
    await gateway.serving("metrics", {
      QueryStreamedPoints: async ({ after }) => {
        const items = Array.from({ length: points - (after ?? points) }, (_, index) =>
          pointAt((after ?? points) + index + 1),
        );
        return { items, next: points, more: false } as never;
      },
    }),
  );
  await gateway.append("experiment-1", created({ name: "own", workspace: "Vision" }));
  await gateway.append("experiment-2", created({ name: "hidden", workspace: "Speech" }));
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  const position = await gateway.append("agent-a", { type: "AgentEnabled", data: {} });
  await gateway.call("GET", `/api/v1/trials/1.1?minPosition=${position}`);
  admin = await addUser(gateway, "root", { role: "cluster-admin" });
}, 60_000);
afterAll(() => stack.disposeAsync());

beforeEach(async () => {
  people += 1;
  tabs = new DisposableStack();
  viewer = await addUser(gateway, `viewer-${people}`);
  await give(viewer, "Vision");
  await expect.poll(() => statusOf("experiments/1", viewer), within).toBe(200);
});
afterEach(() => tabs.dispose());

const pointAt = (position: number) => ({
  position,
  trial: "1.1",
  ...{ point: { trial: "1.1", run: 1, key: `k${position}`, group: "training", step: position } },
});

const statusOf = async (path: string, { token }: TestUser) =>
  (await gateway.call("GET", `/api/v1/${path}`, { token })).status;
const give = ({ id: user }: TestUser, workspace: string) =>
  gateway.append("access-cluster", {
    type: "RoleGiven",
    data: { grant: `${workspace}-${user}`, role: "viewer", user, group: "", workspace, by },
  });
const take = ({ id }: TestUser, workspace: string) =>
  gateway.append("access-cluster", {
    type: "RoleTaken",
    data: { grant: `${workspace}-${id}`, by },
  });
const pause = (experiment: string) =>
  gateway.append(`experiment-${experiment}`, { type: "ExperimentPaused", data: {} });
const move = (experiment: string, workspace: string) =>
  gateway.append(`experiment-${experiment}`, {
    type: "ExperimentMoved",
    data: { workspace, project: "default" },
  });

const topics = [
  { kind: "experiments" },
  { kind: "experiments", id: "1" },
  { kind: "trials", experiment: "1" },
  { kind: "points", experiment: "1" },
  { kind: "agents" },
] as const;

const openTab = ({ token }: TestUser, asked: readonly JsonObject[], after = ""): WatchTab =>
  tabs.use(WatchTab.open({ url: gateway.url, token }, asked, after));

const tabOf = (user: TestUser, asked: readonly JsonObject[] = topics): Promise<WatchTab> =>
  openTab(user, asked).opened();

test("a lost role ends what a tab shows of the workspace, a grant begins it again, and another tab sees none of it", async () => {
  const [own, other] = [await tabOf(viewer), await tabOf(admin)];
  await pause("1");
  points += 1;
  await expect.poll(() => own.said, within).toContain("change 0 1");
  await expect.poll(() => own.said, within).toContain("points 3");
  const before = own.said.length;
  await take(viewer, "Vision");
  const lost = ["reset 0", "gone 1 1", "reset 2", "reset 3", "reset 4"];
  await expect.poll(() => own.said.slice(before), within).toEqual(lost);
  points += 1;
  await pause("1");
  await expect.poll(() => other.said.filter((one) => one === "points 3"), within).toHaveLength(2);
  await own.bookmarked();
  await own.bookmarked();
  expect(own.said.slice(before)).toEqual(lost);
  await give(viewer, "Vision");
  const granted = ["reset 0", "reset 1", "reset 2", "reset 3", "reset 4"];
  await expect.poll(() => own.said.slice(before), within).toEqual([...lost, ...granted]);
  points += 1;
  await expect.poll(() => own.said.at(-1), within).toBe("points 3");
  expect(other.said.filter((one) => one.startsWith("reset"))).toEqual([]);
});

test("an experiment that is moved out of sight is gone, with its trials and points, and comes back", async () => {
  const own = await tabOf(viewer);
  await move("1", "Speech");
  const lost = ["gone 0 1", "gone 1 1", "reset 2", "reset 3", "reset 4"];
  await expect.poll(() => own.said, within).toEqual(expect.arrayContaining(lost));
  await own.bookmarked();
  const before = own.said.length;
  points += 1;
  await pause("1");
  await pause("1");
  await own.bookmarked();
  await own.bookmarked();
  expect(own.said.slice(before)).toEqual([]);
  await move("1", "Vision");
  await expect.poll(() => own.said.slice(before), within).toContain("reset 3");
  expect(own.said.slice(before)).toContain("change 0 1");
});

test("an event of a hidden workspace sends no frame", async () => {
  const own = await tabOf(viewer);
  const other = await tabOf(admin, [{ kind: "experiments" }]);
  await pause("2");
  await move("2", "default");
  await move("2", "Speech");
  await pause("1");
  await expect.poll(() => own.said, within).toContain("change 0 1");
  expect(own.said.filter((one) => one.endsWith("2"))).toEqual([]);
  expect(own.said.filter((one) => one.startsWith("reset"))).toEqual([]);
  await expect.poll(() => other.said, within).toContain("change 0 2");
});

test("a stream that is resumed after a change of rights is reset", async () => {
  const own = await tabOf(viewer, [{ kind: "experiments" }]);
  const { cursor } = own;
  await give(viewer, "Speech");
  await expect.poll(() => own.said, within).toEqual(["reset 0"]);
  const resumed = await openTab(viewer, [{ kind: "experiments" }], cursor).opened();
  await expect.poll(() => resumed.said, within).toContain("reset all");
  await own.bookmarked();
  const again = await openTab(viewer, [{ kind: "experiments" }], own.cursor).opened();
  await again.bookmarked();
  expect(again.said).toEqual([]);
});

test.each([
  { kind: "experiments", id: "2" },
  { kind: "trials", experiment: "2" },
  { kind: "trials", experiment: "1", id: "2.1" },
  { kind: "points", experiment: "2" },
  { kind: "projects", workspace: "Speech" },
  { kind: "workspaces", id: "Speech" },
])("a topic of a hidden object is refused as that of a missing one: %j", async (topic) => {
  const missing = JSON.parse(JSON.stringify(topic).replace(/2(\.1)?"/, '9$1"')) as JsonObject;
  const answer = async (asked: JsonObject): Promise<string> => {
    const tab = openTab(viewer, [asked]);
    await expect.poll(() => tab.problem, within).not.toBe("");
    return tab.problem.replaceAll("Speech", "None").replaceAll("2", "9");
  };
  const unknown = JSON.stringify(missing).replace("Speech", "None");
  expect(await answer(topic)).toBe(await answer(JSON.parse(unknown) as JsonObject));
});
