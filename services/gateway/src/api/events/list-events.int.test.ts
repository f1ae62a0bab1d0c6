import { afterAll, beforeAll, expect, test } from "vitest";
import { readModelLimits } from "../../read-model/limits.ts";
import {
  created,
  requested,
  searchStarted,
  trialCreated,
  validation,
} from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";
import { apiLimits } from "../limits.ts";

let gateway: TestGateway;
let last = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.append("experiment-1", created({ name: "one" }));
  await gateway.append("search-1", searchStarted());
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.append("experiment-12", created({ name: "twelve" }));
  for (let round = 0; round < 150; round += 1) {
    const type = round % 2 === 0 ? "ExperimentActivated" : "ExperimentPaused";
    await gateway.append("experiment-1", { type, data: {} });
    last = await gateway.append("measurement-1.1", validation({ step: round + 1, loss: 1 }));
  }
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${last}`);
}, 120_000);

afterAll(() => gateway[Symbol.asyncDispose]());

const timeOf = (event: Shown | undefined): number => Date.parse(event?.time ?? "");

type Shown = {
  readonly subject: string;
  readonly type: string;
  readonly sequence: string;
  readonly time: string;
};

async function page(query: Readonly<Record<string, string | readonly string[]>>) {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, one] as [string, string]),
  );
  const { body, status } = await gateway.call(
    "GET",
    `/api/v1/events:list?${new URLSearchParams(pairs)}`,
  );
  if (status !== 200) throw new Error(String(body["detail"]));
  return { items: body["items"] as Shown[], next: String(body["nextPageToken"]) };
}

async function all(query: Readonly<Record<string, string | readonly string[]>>) {
  const items: Shown[] = [];
  for (let pageToken = ""; ; ) {
    const found = await page({ ...query, pageToken });
    items.push(...found.items);
    pageToken = found.next;
    if (pageToken === "") return items;
  }
}

/** Returns all events, read from the stream of events. */
async function everything(): Promise<readonly Shown[]> {
  const answer = await fetch(`${gateway.url}/api/v1/events?noFollow=true`, {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  const text = await answer.text();
  return [...text.matchAll(/^data: (\{"specversion".*)$/gm)].map(([, data = ""]) =>
    JSON.parse(data),
  );
}

const backwards = (events: readonly Shown[], ...streams: readonly string[]) =>
  events.filter(({ subject }) => streams.length === 0 || streams.includes(subject)).toReversed();

test("an event list has the events of an object's streams, newest first, page by page", async () => {
  const events = await everything();
  expect(await all({ pageSize: "37" })).toEqual(backwards(events));
  expect(await all({ object: "experiment", id: "1", pageSize: "7" })).toEqual(
    backwards(events, "experiment-1"),
  );
  expect(await all({ object: "trial", id: "1.1" })).toEqual(
    backwards(events, "trial-1.1", "measurement-1.1"),
  );
  expect(await all({ object: "experiment", id: "12" })).toEqual(backwards(events, "experiment-12"));
});

test("a page of events continues after the last one, whatever is appended meanwhile", async () => {
  const first = await page({ object: "experiment", id: "12", pageSize: "1" });
  const before = await page({ object: "experiment", id: "1", pageSize: "5" });
  await gateway.append("experiment-1", { type: "ExperimentActivated", data: {} });
  const after = await page({
    object: "experiment",
    id: "1",
    pageSize: "5",
    pageToken: before.next,
  });
  expect(first.next).toBe("");
  expect(Number(after.items[0]?.sequence)).toBeLessThan(Number(before.items.at(-1)?.sequence));
  const both = backwards(await everything(), "experiment-1").slice(1, 11);
  expect([...before.items, ...after.items]).toEqual(both);
});

test("an event list is filtered by types and times", async () => {
  const events = backwards(await everything(), "experiment-1");
  const types = ["ExperimentPaused", "ExperimentCreated"];
  const chosen = events.filter(({ type }) => types.includes(type.split(".")[3] ?? ""));
  expect(await all({ object: "experiment", id: "1", types })).toEqual(chosen);
  const [fromMs, untilMs] = [timeOf(events[80]), timeOf(events[20])];
  const inTime = events.filter((event) => timeOf(event) >= fromMs && timeOf(event) < untilMs);
  const range = { fromMs: String(fromMs), untilMs: String(untilMs) };
  expect(inTime.length).toBeGreaterThan(20);
  expect(await all({ object: "experiment", id: "1", ...range, pageSize: "9" })).toEqual(inTime);
  expect(await all({ ...range, types: ["ExperimentActivated"] })).toEqual(
    inTime.filter(({ type }) => type.includes("Activated")),
  );
  expect(await all({ object: "experiment", id: "1", untilMs: "0" })).toEqual([]);
});

test.each([
  [{ object: "experiment", id: "9" }, "there is no experiment 9"],
  [{ object: "run", id: "1.1#9" }, "there is no run 1.1#9"],
  [{ object: "model", id: "" }, "there is no model "],
  [{ object: "agent", id: "a\0b" }, "there is no agent a\0b"],
  [{ object: "Agent", id: "x" }, "object is a kind, such as experiment, trial or run"],
  [{ object: "__proto__", id: "x" }, "object is a kind, such as experiment, trial or run"],
  [{ object: "constructor", id: "x" }, "there is no constructor x"],
  [{ untilMs: "NaN" }, "from_ms and until_ms are milliseconds since 1970"],
  [{ id: "1" }, "id needs an object: the kind of what it names"],
  [{ pageToken: "soon" }, "invalid page_token"],
  [{ pageToken: Buffer.from('[["",1e9]]').toString("base64url") }, "invalid page_token"],
  [
    { object: "trial", id: "1.1", pageToken: Buffer.from('[["",1]]').toString("base64url") },
    "invalid page_token",
  ],
])("%j is refused: %s", async (query, detail) => {
  await expect(page(query as Record<string, string>)).rejects.toThrow(detail);
});

test("a page of large events is short, and the next page continues", async () => {
  const ids = Array.from({ length: 20 }, (_, index) => 21 + index);
  for (const id of ids) {
    // A page has room for 16 of these events, with their other fields, but not for 17.
    const text = "x".repeat(apiLimits.listedEventsCharacters / 17);
    await gateway.append(
      `experiment-${id}`,
      created({ name: String(id), config: { data: { text } } }),
    );
  }
  const subjects = [...ids.toReversed(), 12, 1].map((id) => `experiment-${id}`);
  const first = await page({ types: ["ExperimentCreated"] });
  expect(first.items.map(({ subject }) => subject)).toEqual(subjects.slice(0, 17));
  const rest = await page({ types: ["ExperimentCreated"], pageToken: first.next });
  expect(rest.items.map(({ subject }) => subject)).toEqual(subjects.slice(17));
});

test("event lists share the queue of all lists: a caller with a full one is refused, and delays no other", async () => {
  const issued = await gateway.call("POST", "/api/v1/tokens", { body: { label: "other" } });
  const token = String(issued.body["secret"]);
  const { ofOneMax, waitingOfOneMax } = readModelLimits.listQueries;
  let read = 0;
  const full = Promise.withResolvers<void>();
  const many = Array.from({ length: 4 * (ofOneMax + waitingOfOneMax) }, async () => {
    const answer = await gateway.call("GET", "/api/v1/events:list?types=None");
    if (answer.status === 200) read += 1;
    else full.resolve();
    return answer;
  });
  await full.promise;
  const before = read;
  const other = await gateway.call("GET", "/api/v1/events:list?types=None", { token });
  expect(other.status).toBe(200);
  expect(read - before).toBeLessThan(waitingOfOneMax / 2);
  const answers = await Promise.all(many);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeLessThan(many.length);
  expect(refused[0]).toMatchObject({ status: 503, body: { code: "busy" } });
});
