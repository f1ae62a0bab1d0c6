import { setTimeout } from "node:timers/promises";
import { logSubject } from "@trainyard/bus";
import type { Plain } from "@trainyard/contracts";
import { LogLevel, LogSource, type QueryLines } from "@trainyard/contracts/commands";
import { TrialOutcome } from "@trainyard/contracts/events";
import type { CommandTable } from "@trainyard/runtime";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { created, requested, searchStarted, trialCreated } from "../../testing/example-events.ts";
import { openStream, StreamText } from "../../testing/streams.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
const services = new AsyncDisposableStack();
let queries: Plain<QueryLines>[] = [];

const stored = {
  trial: "1.1",
  run: 2,
  cursor: "8",
  level: LogLevel.ERROR,
  receivedAtMs: 9,
  line: {
    allocation: "1.1#2",
    nodeRank: 1,
    sequence: 4,
    atMs: 7,
    source: LogSource.STDERR,
    text: "[rank=3] ERROR x",
    continued: false,
    rank: 3,
  },
};

beforeAll(async () => {
  gateway = services.use(await startTestGateway());
  await gateway.append("experiment-1", created({}));
  await gateway.append("search-1", searchStarted());
  const position = await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  const QueryLines: CommandTable<"logs">["QueryLines"] = async (asked) => {
    queries.push(asked);
    if (asked.after === "8") return { lines: [], more: false, next: "8" };
    return { lines: [stored], more: asked.after === "", next: "8" };
  };
  services.use(await gateway.serving("logs", { QueryLines }));
});

beforeEach(() => {
  queries = [];
});

afterAll(() => services.disposeAsync());

const filter =
  "run=2&nodeRank=1&rank=3&source=stderr&level=warning&fromMs=5&untilMs=6.5&contains=a&matches=b&search=c";
const asked = {
  run: 2,
  nodeRank: 1,
  rank: 3,
  source: LogSource.STDERR,
  level: LogLevel.WARNING,
  fromMs: 5,
  untilMs: 6.5,
  contains: "a",
  matches: "b",
  search: "c",
};

it.each([
  ["/api/v1/trials/1.1/logs", "1.1"],
  ["/api/v1/experiments/1/logs", "1"],
])("GET %s passes on its filters, and shows all fields of each line", async (path, task) => {
  const { body } = await gateway.call("GET", `${path}?${filter}&pageSize=10&before=70`);
  expect(queries).toEqual([{ task, after: "", before: "70", limit: 10, tail: 0, ...asked }]);
  expect(body["nextPageToken"]).toBe("8");
  expect(body["items"]).toEqual([
    {
      trial: "1.1",
      run: 2,
      nodeRank: 1,
      atMs: 7,
      source: "stderr",
      text: "[rank=3] ERROR x",
      continued: false,
      cursor: "8",
      rank: 3,
      level: "error",
      receivedAtMs: 9,
    },
  ]);
  const last = await gateway.call("GET", `${path}?tail=5`);
  expect(queries.at(-1)).toMatchObject({ tail: 5 });
  expect(last.body["before"]).toBe("8");
});

it("an unknown level or source is refused with the list of names", async () => {
  for (const [name, known] of [
    ["level", "trace, debug, info, warning, error, critical"],
    ["source", "stdout, stderr, agent"],
  ]) {
    const { status, body } = await gateway.call("GET", `/api/v1/trials/1.1/logs?${name}=loud`);
    expect(status).toBe(400);
    expect(body["detail"]).toContain(`${name} is "loud" and should be one of ${known}`);
  }
  expect(queries).toEqual([]);
});

it.each([
  ["a trial's", "/api/v1/trials/1.1/logs:follow", "1.1"],
  ["an experiment's", "/api/v1/experiments/1/logs:follow", "1"],
])("%s follower has its filter, and wakes for its task's lines only", async (_, path, task) => {
  const stream = await openStream(gateway, `${path}?${filter}`);
  const reading = new StreamText(stream);
  await vi.waitFor(() => expect(reading.text).toContain("\ndata: "), 90_000);
  await vi.waitFor(() => expect(queries.at(-1)?.after).toBe("8"), 90_000);
  expect(queries[0]).toMatchObject({ task, after: "", ...asked });
  const body = new Uint8Array();
  const [before, beganMs] = [queries.length, performance.now()];
  // The announcements are of other trials: if they woke the follower, each would cause a query.
  for (let n = 0; n < 40; n += 1) {
    gateway.bus.publishLive("LOGS", logSubject(n % 2 === 0 ? "11.1" : "2.1"), body);
    await setTimeout(20);
  }
  // Without announcements the follower queries once a second.
  const looks = Math.ceil((performance.now() - beganMs) / 1_000) + 1;
  expect(queries.length - before).toBeLessThanOrEqual(looks);
  const own = queries.length;
  const announcedMs = performance.now();
  for (let n = 0; n < 10; n += 1) {
    gateway.bus.publishLive("LOGS", logSubject("1.1"), body);
    const asBefore = queries.length;
    await vi.waitFor(() => expect(queries.length).toBeGreaterThan(asBefore), 90_000);
  }
  const byItself = Math.floor((performance.now() - announcedMs) / 1_000);
  expect(queries.length - own - byItself).toBeGreaterThan(5);
  stream.destroy();
  await reading.ended;
});

it("followers of a trial share their reads and end with it, and one continues after its last id", async () => {
  const position = await gateway.append("trial-1.2", trialCreated(2), requested(1, 0));
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  const path = "/api/v1/trials/1.2/logs:follow";
  const followers = await Promise.all(
    Array.from({ length: 50 }, async () => new StreamText(await openStream(gateway, path))),
  );
  const later = gateway.call("GET", path, { headers: { "last-event-id": "8" } });
  const all = () => followers.map(({ text }) => [...text.matchAll(/^id: (.*)$/gm)].length);
  await vi.waitFor(() => expect(new Set(all())).toEqual(new Set([1])), 90_000);
  // All of them wait when one more line is announced and read for all.
  const settled = queries.length;
  gateway.bus.publishLive("LOGS", logSubject("1.2"), new Uint8Array());
  await vi.waitFor(() => expect(queries.length).toBeGreaterThan(settled), 90_000);
  const before = queries.length;
  const data = { outcome: TrialOutcome.COMPLETED, reason: "", restarts: 0 };
  await gateway.append("trial-1.2", { type: "TrialEnded", data });
  await Promise.all(followers.map(({ ended }) => ended));
  for (const { text } of followers) expect(text).toContain("event: end");
  expect((await later).body["text"]).not.toContain('data: {"trial"');
  expect(queries.length - before).toBeLessThan(10);
});
