import type { AnyEvent } from "@trainyard/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { addToken, addUser, type TestUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

const by = "user:root";
const soon = { timeout: 5_000, interval: 20 };

let gateway: TestGateway;
let admin: TestUser;
let viewer: TestUser;
/** The positions of events by what they are of. */
const at = new Map<string, number>();

const archived = { type: "ExperimentArchived", data: { reason: "" } } as const;
const cleared = (allocation: string) =>
  ({ type: "SlotsCleared", data: { allocation, slots: [] } }) as const;

beforeAll(async () => {
  gateway = await startTestGateway();
  for (const name of ["Vision", "Speech"]) {
    await gateway.call("POST", "/api/v1/workspaces", { body: { name } });
  }
  const put = async (name: string, stream: string, event: AnyEvent): Promise<void> => {
    at.set(name, await gateway.append(stream, event));
  };
  await put("own", "experiment-1", created({ name: "own", workspace: "Vision" }));
  await put("hidden", "experiment-2", created({ name: "hidden", workspace: "Speech" }));
  await put("own trial", "measurement-1.1", {
    type: "MeasurementsSuperseded",
    data: { run: 1, afterStep: 1 },
  });
  await put("model", "model-m", {
    type: "ModelCreated",
    data: { description: "", notes: "", labels: [], workspace: "Vision", by: "admin" },
  });
  await put("hidden model", "model-h", {
    type: "ModelCreated",
    data: { description: "", notes: "", labels: [], workspace: "Speech", by: "admin" },
  });
  await put("pool", "pool-p", { type: "PoolRemoved", data: {} });
  await put("own run", "agent-a", cleared("1.1#1"));
  await put("hidden run", "agent-a", cleared("2.1#1"));
  admin = await addUser(gateway, "root", { role: "cluster-admin" });
  viewer = await addUser(gateway, "vi", { role: "viewer", workspace: "Vision" });
}, 60_000);
afterAll(() => gateway[Symbol.asyncDispose]());

const get = (path: string, { token }: Pick<TestUser, "token"> = viewer) =>
  gateway.call("GET", `/api/v1/${path}`, { token });

type Shown = { readonly sequence: string; readonly subject: string };
const shownIn = (body: Readonly<Record<string, unknown>>) => body["items"] as readonly Shown[];

test.each([
  ["own", true],
  ["own trial", true],
  ["model", true],
  ["pool", true],
  ["own run", true],
  ["hidden", false],
  ["hidden model", false],
  ["hidden run", false],
] as const)("GetEvent of %s is answered: %s", async (name, isSeen) => {
  const position = at.get(name) ?? 0;
  const { status } = await get(`events/${position}`);
  expect(status).toBe(isSeen ? 200 : 404);
  expect((await get(`events/${position}`, admin)).status).toBe(200);
});

test("an event list has what the caller may see, and no other event", async () => {
  const { body } = await get("events:list?pageSize=500");
  const seen = shownIn(body).map(({ sequence }) => Number(sequence));
  for (const [name, position] of at) {
    expect([name, seen.includes(position)]).toEqual([name, !name.startsWith("hidden")]);
  }
  const subjects = shownIn(body).map(({ subject }) => subject);
  expect(subjects).toContain("user-vi");
  expect(subjects).not.toContain("user-root");
  expect(subjects).not.toContain("access-cluster");
  expect(subjects.filter((subject) => subject.startsWith("token-"))).toHaveLength(1);
  const all = await get("events:list?pageSize=500", admin);
  expect(shownIn(all.body).length).toBeGreaterThan(seen.length);
});

test("the list of a hidden object's events is answered as that of a missing one", async () => {
  const hidden = await get("events:list?object=experiment&id=2");
  const none = await get("events:list?object=experiment&id=9");
  expect(hidden.status).toBe(404);
  expect(JSON.stringify(hidden.body).replaceAll("2", "9")).toBe(
    JSON.stringify(none.body).replaceAll("2", "9"),
  );
  expect((await get("events:list?object=access&id=cluster")).status).toBe(404);
  expect((await get("events:list?object=experiment&id=1")).status).toBe(200);
  expect((await get("events:list?object=agent&id=a")).body).toMatchObject({
    items: [{ sequence: String(at.get("own run")) }],
  });
  expect((await get("events?workspace=speech&noFollow=true")).body).toMatchObject({
    code: "workspace_not_found",
  });
});

/** Follows the events of experiments, and returns the positions that have arrived. */
async function following(token: string, query = "object=experiment") {
  const stop = new AbortController();
  const response = await fetch(`${gateway.url}/api/v1/events?${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  });
  const positions: number[] = [];
  void (async () => {
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      positions.length = 0;
      for (const [, found] of text.matchAll(/"sequence":"(\d+)"/g)) positions.push(Number(found));
    }
  })().catch(() => {});
  return { positions, [Symbol.dispose]: () => stop.abort() };
}

test("a stream of events has what the caller may see at the moment", async () => {
  const grant = {
    type: "RoleGiven",
    data: { grant: "g9", role: "viewer", user: "vi", group: "", workspace: "Speech", by },
  } as const;
  using stream = await following(viewer.token);
  using replay = await following(viewer.token, "experiment=2");
  await expect.poll(() => stream.positions, soon).toContain(at.get("own"));
  const before = await gateway.append("experiment-2", archived);
  const passed = await gateway.append("experiment-1", archived);
  await expect.poll(() => stream.positions, soon).toContain(passed);
  await gateway.append("access-cluster", grant);
  const granted = await gateway.append("experiment-2", archived);
  await expect.poll(() => stream.positions, soon).toContain(granted);
  await expect.poll(() => replay.positions, soon).toContain(granted);
  await gateway.append("access-cluster", {
    type: "RoleTaken",
    data: { grant: "g9", by },
  });
  const taken = await gateway.append("experiment-2", archived);
  const last = await gateway.append("experiment-1", archived);
  await expect.poll(() => stream.positions, soon).toContain(last);
  expect(stream.positions).not.toContain(before);
  expect(stream.positions).not.toContain(taken);
  expect(replay.positions).not.toContain(taken);
});

test("a limited token reads what it and its owner may see", async () => {
  const token = await addToken(gateway, `user:${admin.id}`, [
    { role: "viewer", workspaces: ["Vision"] },
  ]);
  expect((await get(`events/${at.get("own")}`, { token })).status).toBe(200);
  expect((await get(`events/${at.get("hidden")}`, { token })).status).toBe(404);
});

test("an event of an experiment is for those who see where the experiment is now", async () => {
  await gateway.append("experiment-7", created({ name: "moving", workspace: "Vision" }));
  const position = await gateway.append("experiment-7", archived);
  expect((await get(`events/${position}`)).status).toBe(200);
  await gateway.append("experiment-7", {
    type: "ExperimentMoved",
    data: { workspace: "Speech", project: "default" },
  });
  await expect.poll(async () => (await get(`events/${position}`)).status, soon).toBe(404);
});
