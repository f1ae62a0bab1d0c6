import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PlayedReceivers } from "./testing/played-receivers.ts";
import { experimentCreated, TestFeeds } from "./testing/test-feeds.ts";

const soon = { timeout: 15_000, interval: 20 };
const all = { types: [], object: "", id: "", experiment: "", workspace: "", label: "", where: [] };
const waitMs = 200;

let feeds: TestFeeds;
const outgoing = new PlayedReceivers();

beforeAll(async () => {
  feeds = await TestFeeds.open();
  await feeds.stage.tell("experiment-1", experimentCreated({ workspace: "1" }));
  await feeds.stage.tell("experiment-2", experimentCreated({ workspace: "2" }));
  await feeds.start({ outgoing });
});
afterAll(() => feeds[Symbol.asyncDispose]());

async function watch(name: string, filter = {}): Promise<string> {
  const url = `https://${name}.example/hook`;
  const answer = await feeds.create({
    ...{ name, delivery: "webhook", url, after: await feeds.stage.head() },
    filter: { ...all, ...filter },
    webhook: { format: "standard", logPattern: "", queueWaitMs: waitMs, namedOnly: false },
  });
  if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
  return url;
}

const queuedEvent = {
  type: "AllocationQueued",
  data: {
    ...{ task: "", run: 1, job: "", preemptible: true, delayMs: 0, workspace: "", owner: "" },
    resources: { pool: "default", slots: 1, priority: 42, weight: 1, singleAgent: false },
  },
} as const;
const endedEvent = {
  type: "AllocationEnded",
  data: { cause: 5, exits: [], message: "" },
} as const;
const grantedEvent = {
  type: "AllocationGranted",
  data: { placements: [], masterAddress: "", masterPort: 0, tokenKey: "", folded: 0 },
} as const;
type RunEvent = typeof queuedEvent | typeof endedEvent | typeof grantedEvent;

const happens = (run: string, ...events: readonly RunEvent[]) =>
  feeds.stage.tell(`allocation-${run}`, ...events);
const queued = (run: string) => happens(run, queuedEvent);
const ended = (run: string) => happens(run, endedEvent);

async function noted(name: string): Promise<readonly string[]> {
  const events = await feeds.stage.events(`subscription-${name}`);
  return events.flatMap((event) => (event.type === "QueueWaitExceeded" ? [event.data.run] : []));
}
const areNoted = (name: string, runs: readonly string[]) =>
  vi.waitFor(async () => expect(await noted(name)).toEqual(runs), soon);

test("a run or task that waits for longer than a webhook allows is sent once, and one that was placed or ended is not", async () => {
  const url = await watch("slow");
  await happens("1.1#1", queuedEvent, grantedEvent);
  await happens("1.2#1", queuedEvent, endedEvent);
  for (const run of ["1.3#1", "t7#1"]) await queued(run);
  await areNoted("slow", ["1.3#1", "t7#1"]);
  await vi.waitFor(() => expect(outgoing.idsAt(url)).toHaveLength(2), soon);
  const bodies = outgoing.requests.filter((request) => request.url === url);
  const data = bodies.map(({ body }) => (JSON.parse(body) as { data: object }).data);
  expect(data).toMatchObject([
    { run: "1.3#1", experiment: "1", pool: "default", waitMs },
    { run: "t7#1", pool: "default", waitMs },
  ]);
  await feeds.stop();
  await feeds.start({ outgoing });
  await queued("1.4#1");
  await areNoted("slow", ["1.3#1", "t7#1", "1.4#1"]);
  for (const run of ["1.3#1", "t7#1", "1.4#1"]) await happens(run, grantedEvent);
  await feeds.stage.ask("feeds", "DeleteSubscription", { name: "slow" });
});

test("the workspace of a webhook's filter restricts the runs whose waits are recorded", async () => {
  await watch("theirs", { workspace: "2" });
  await watch("one", { experiment: "1" });
  for (const run of ["1.5#1", "2.5#1", "t8#1"]) await queued(run);
  await areNoted("theirs", ["2.5#1"]);
  await areNoted("one", ["1.5#1"]);
  expect([await noted("theirs"), await noted("one")]).toEqual([["2.5#1"], ["1.5#1"]]);
  for (const run of ["1.5#1", "2.5#1", "t8#1"]) await ended(run);
});

test("a run that passed the limit before the webhook was created is not recorded", async () => {
  await watch("before", { experiment: "1" });
  await queued("1.6#1");
  await areNoted("before", ["1.6#1"]);
  await watch("later", { experiment: "1" });
  await queued("1.7#1");
  await areNoted("later", ["1.7#1"]);
  expect(await noted("before")).toContain("1.6#1");
  for (const run of ["1.6#1", "1.7#1"]) await ended(run);
});

test("the long wait of each of 300 runs is recorded once while the service ends at any time", async () => {
  const runs = Array.from({ length: 300 }, (_, n) => `2.${100 + n}#1`);
  await watch("many");
  for (let at = 0; at < runs.length; at += 50) {
    await Promise.all(runs.slice(at, at + 50).map((run) => queued(run)));
    await feeds.stop();
    await feeds.start({ outgoing });
  }
  await vi.waitFor(async () => expect(await noted("many")).toHaveLength(300), soon);
  expect(new Set(await noted("many"))).toEqual(new Set(runs));
}, 60_000);

test("the view of the queue equals the log", async () => {
  expect(Object.values(await feeds.stage.verify())).toEqual([""]);
});
