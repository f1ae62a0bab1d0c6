import { randomUUID } from "node:crypto";
import { drawInteger } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.call("POST", "/api/v1/workspaces", { body: { name: "Vision" } });
  await gateway.append("experiment-1", created({ name: "one", labels: ["nightly"] }));
  await gateway.append("experiment-12", created({ name: "twelve", workspace: "Vision" }));
  await gateway.append("experiment-1", ended("FAILED"), {
    type: "ExperimentArchived",
    data: { reason: "" },
  });
  await gateway.append("experiment-12", ended("COMPLETED"));
});
afterAll(() => gateway[Symbol.asyncDispose]());

const outcomes = { COMPLETED: 1, FAILED: 3 } as const;
const ended = (outcome: keyof typeof outcomes) =>
  ({ type: "ExperimentEnded", data: { outcome: outcomes[outcome], reason: "" } }) as const;

const removed = { type: "PoolRemoved", data: {} } as const;

type Block = { readonly id: string; readonly data: string };

/** Yields the blocks of the stream; a reader that returns early disconnects. */
async function* blocks(
  query: Readonly<Record<string, string>>,
  { url, token }: Pick<TestGateway, "url" | "token"> = gateway,
): AsyncGenerator<Block> {
  const stop = new AbortController();
  try {
    const address = `${url}/api/v1/events?${new URLSearchParams(query)}`;
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(address, { headers, signal: stop.signal });
    if (response.status !== 200) throw new Error(await response.text());
    let rest = "";
    for await (const chunk of response.body ?? []) {
      rest += Buffer.from(chunk as Uint8Array).toString();
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        const lines = rest.slice(0, end).split("\n");
        rest = rest.slice(end + 2);
        const of = (name: string) =>
          lines.find((line) => line.startsWith(name))?.slice(name.length) ?? "";
        if (lines.includes("event: end")) return;
        const problem = lines.includes("event: problem") ? of("data: ") : "";
        if (problem !== "") throw new Error(problem);
        if (of("id: ") !== "" || of("data: ") !== "") yield { id: of("id: "), data: of("data: ") };
      }
    }
  } finally {
    stop.abort();
  }
}

/** Returns the positions of the events up to the end of the log. */
async function positions(query: Readonly<Record<string, string>>): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const { data } of blocks({ ...query, noFollow: "true" })) {
    if (data !== "") found.push(Number((JSON.parse(data) as { sequence: string }).sequence));
  }
  return found;
}

const own = (from: number) => ({ after: String(from) });

test("a filter selects events by type, object, experiment, workspace, label and a field of the body", async () => {
  const [first = 0] = await positions({ experiment: "1" });
  const after = own(first - 1);
  expect(await positions({ ...after, types: "ExperimentEnded" })).toEqual([first + 2, first + 4]);
  expect(await positions({ ...after, experiment: "12" })).toEqual([first + 1, first + 4]);
  expect(await positions({ ...after, object: "experiment", id: "1" })).toEqual([
    first,
    first + 2,
    first + 3,
  ]);
  expect(await positions({ ...after, label: "nightly", types: "ExperimentEnded" })).toEqual([
    first + 2,
  ]);
  expect(await positions({ ...after, workspace: "vision" })).toEqual([first + 1, first + 4]);
  expect(await positions({ ...after, where: "outcome=FAILED" })).toEqual([first + 2]);
  expect(await positions({ ...after, where: "outcome=EXPERIMENT_OUTCOME_COMPLETED" })).toEqual([
    first + 4,
  ]);
});

test("the events of a deleted experiment are selected by its last workspace and labels", async () => {
  const request = {
    type: "ExperimentDeletionRequested",
    data: { graceEndMs: 1, reason: "" },
  } as const;
  const own = created({ name: "gone", labels: ["weekly"] });
  const last = await gateway.append("experiment-30", own, ended("FAILED"));
  expect(await positions({ label: "weekly" })).toEqual([last - 1, last]);
  await gateway.append("experiment-30", request);
  expect(await positions({ label: "weekly" })).toEqual([last - 1, last, last + 1]);
  await gateway.append("experiment-30", { type: "ExperimentDeleted", data: {} });
  const all = [last - 1, last, last + 1, last + 2];
  expect(await positions({ label: "weekly" })).toEqual(all);
  expect(await positions({ label: "weekly", workspace: "default" })).toEqual(all);
});

test("the events begin at a time, and after an id of an earlier stream", async () => {
  const all: Block[] = [];
  for await (const block of blocks({ noFollow: "true" })) all.push(block);
  const [, second] = all;
  const next = all.slice(2).map(({ id }) => Number(id.split(":")[0]));
  expect(await positions({ after: second?.id ?? "" })).toEqual(next);
  expect(await positions({ fromMs: String(Date.now() + 60_000) })).toEqual([]);
  expect(await positions({ fromMs: "0" })).toHaveLength(all.length);
});

test.each([
  [{ types: "Nothing" }, "invalid_filter"],
  [{ object: "nothing" }, "invalid_filter"],
  [{ where: "colour=red" }, "invalid_filter"],
  [{ where: "outcome" }, "invalid_filter"],
  [{ workspace: "nowhere" }, "workspace_not_found"],
  [{ after: "soon" }, "invalid_request"],
  [{ after: "1", fromMs: "5" }, "invalid_request"],
  [{ after: "999999" }, "position_unknown"],
  [{ after: `1:${randomUUID()}` }, "position_unknown"],
])("%j is refused with %s", async (query, code) => {
  const path = `/api/v1/events?${new URLSearchParams(query as Record<string, string>)}`;
  const { body } = await gateway.call("GET", path);
  expect(body).toMatchObject({ code, detail: expect.stringMatching(/^.{10,}$/) });
});

test("one event is read with its whole body, and a large one is a reference in the stream", async () => {
  const text = "x".repeat(70_000);
  const position = await gateway.append("experiment-13", created({ description: text }));
  const blocksOf = blocks({ ...own(position - 1), noFollow: "true" });
  const shown = JSON.parse((await blocksOf.next()).value?.data ?? "{}") as Record<string, unknown>;
  await blocksOf.return(undefined);
  expect(shown).toMatchObject({ specversion: "1.0", dataref: `/api/v1/events/${position}` });
  expect(shown).not.toHaveProperty("data");
  const { body } = await gateway.call("GET", String(shown["dataref"]));
  expect(body).toMatchObject({ sequence: String(position), data: { description: text } });
  expect((await gateway.call("GET", "/api/v1/events/99999")).status).toBe(404);
});

test("a reader that loses connection and memory at 50 random points sees each event once, in order", async () => {
  const from = await gateway.append("pool-a", { type: "PoolRemoved", data: {} });
  const count = 350;
  const wanted: number[] = [];
  const appending = (async () => {
    for (let n = 0; n < count; n += 1) {
      const position = await gateway.append("pool-b", { type: "PoolRemoved", data: {} });
      wanted.push(position);
      await gateway.append("experiment-1", { type: "ExperimentActivated", data: {} });
    }
  })();
  const seen: number[] = [];
  let place = String(from);
  const seed = 7;
  let life = 0;
  for (; seen.length < count; life += 1) {
    let left = drawInteger(seed, "left", life, 6);
    for await (const { id, data } of blocks({ after: place, object: "pool" })) {
      if (data !== "") seen.push(Number((JSON.parse(data) as { sequence: string }).sequence));
      place = id;
      if (left <= 0 || seen.length === count) break;
      left -= 1;
    }
  }
  await appending;
  expect(seen).toEqual(wanted);
  expect(life).toBeGreaterThanOrEqual(50);
}, 120_000);

test("a stream of a subscription has its filter and place, and ends with it", async () => {
  const position = await gateway.append("pool-c", { type: "PoolRemoved", data: {} });
  const [event] = await gateway.log.readAll(position - 1, 1);
  const filter = {
    types: [],
    object: "pool",
    id: "",
    experiment: "",
    workspace: "",
    label: "",
    where: [],
  };
  await using _feeds = await gateway.serving("feeds", {
    ListSubscriptions: async ({ name }) => ({
      items: [
        {
          ...{ name, delivery: "pull", state: "ACTIVE", reason: "", filter, createdAtMs: 0 },
          ...{ position, event: event?.id ?? "", lagEvents: 0, lagSeconds: 0, lastError: "" },
          ...{ url: "", headerNames: [], waiting: 0 },
        },
      ],
      nextPageToken: "",
    }),
  });
  const stream = blocks({ subscription: "a" });
  const first = stream.next();
  await gateway.append("experiment-1", { type: "ExperimentActivated", data: {} });
  const next = await gateway.append("pool-c", { type: "PoolRemoved", data: {} });
  const { id } = (await first).value as Block;
  expect(id.split(":")[0]).toBe(String(next));
  const unchanged = stream.next();
  const change = { type: "SubscriptionChanged", data: { destinationChanged: false } } as const;
  await gateway.append("subscription-a", change);
  await expect(unchanged).rejects.toThrow("connect again for its new filter");
  const again = blocks({ subscription: "a", after: String(await gateway.log.head()) });
  const after = again.next();
  const data = { tokenId: "t", reason: "its token t was revoked" };
  await gateway.append("subscription-a", { type: "SubscriptionStopped", data });
  await expect(after).rejects.toThrow("its token t was revoked");
  await expect(blocks({ subscription: "a", types: "PoolRemoved" }).next()).rejects.toThrow(
    "a subscription has a filter",
  );
});

test("while nothing matches, an id without data moves the reader's place", async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const url = await gateway.startAnother({ clock });
  const stream = blocks(
    { types: "ModelCreated", after: String(await gateway.log.head()) },
    { url, token: gateway.token },
  );
  const first = stream.next();
  await gateway.append("experiment-1", { type: "ExperimentActivated", data: {} });
  await new Promise((done) => setTimeout(done, 100));
  aheadMs = 11_000;
  const last = await gateway.append("experiment-1", { type: "ExperimentPaused", data: {} });
  const { id, data } = (await first).value as Block;
  expect(data).toBe("");
  expect(Number(id.split(":")[0])).toBeLessThanOrEqual(last);
  await stream.return(undefined);
});

test("a reader whose place a restored log no longer has is refused, also while it is connected", async () => {
  await using restored = await startTestGateway();
  for (let n = 0; n < 5; n += 1) await restored.append("pool-a", removed);
  const stream = blocks({ object: "pool" }, restored);
  const places: string[] = [];
  while (places.length < 5) places.push((await stream.next()).value?.id ?? "");
  const next = stream.next();
  await restored.sql("delete from log.events where position > 3");
  await restored.sql("delete from log.commits where position > 3");
  for (let n = 0; n < 4; n += 1) await restored.append("pool-b", removed);
  await expect(next).rejects.toThrow("position_unknown");
  const again = blocks({ object: "pool", after: places.at(-1) ?? "" }, restored);
  await expect(again.next()).rejects.toThrow("position_unknown");
}, 60_000);
