import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import type { PostSearchOperations } from "@trainyard/contracts/commands";
import { SearchCompletion } from "@trainyard/contracts/events";
import { reject } from "@trainyard/kernel";
import { type CommandTable, commandHandlers, createLogger } from "@trainyard/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created, searchStarted } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let searcher: AsyncDisposable;
const asked: Plain<PostSearchOperations>[] = [];

beforeAll(async () => {
  gateway = await startTestGateway();
  const started = searchStarted();
  const custom = { ...started, data: { ...started.data, algorithm: "custom", trialsMax: 0 } };
  await gateway.append("experiment-1", created({}), { type: "ExperimentActivated", data: {} });
  const position = await gateway.append("search-1", custom);
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  searcher = await answering();
});
afterAll(async () => {
  await searcher?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

/** Simulates the searcher: it accepts all operations except those that depend on a version other than 1. */
async function answering(): Promise<AsyncDisposable> {
  const handle: CommandTable<"searcher">["PostSearchOperations"] = async (request) => {
    asked.push(request);
    if ((request.restsOn ?? 1) !== 1) return reject("search_moved_on", "it has moved on");
    const results = request.operations.map(({ id }) => ({ id, trial: 1, version: 2 }));
    return { position: 0, version: 3, results };
  };
  const handlers = { PostSearchOperations: handle };
  return gateway.bus.serve(
    "searcher",
    commandHandlers("searcher", handlers, createLogger("searcher", "silent")),
  );
}

const operations = "/api/v1/experiments/1/search/operations";
const proposal = { id: "a", propose: { hyperparameters: { lr: 0.5 } } };

test("operations reach the searcher unchanged", async () => {
  const body = { operations: [proposal, { id: "b", stop: { trial: 3, reason: "slow" } }] };
  const answer = await gateway.call("POST", operations, {
    body,
    headers: { "idempotency-key": randomUUID() },
  });
  expect(answer).toMatchObject({
    status: 200,
    body: { version: 3, results: [{ id: "a", trial: 1, version: 2 }, { id: "b" }] },
  });
  expect(Number(answer.body["position"])).toBeGreaterThan(0);
  expect(asked.at(-1)).toMatchObject({
    experiment: "1",
    operations: [
      { id: "a", operation: { case: "propose", value: { hyperparameters: { lr: 0.5 } } } },
      { id: "b", operation: { case: "stop", value: { trial: 3, reason: "slow" } } },
    ],
  });
  expect(asked.at(-1)?.restsOn).toBe(undefined);
});

test("operations that depend on an older version are refused with the newer events", async () => {
  await gateway.append("search-1", {
    type: "TrialProposed",
    data: { number: 1, seed: 1, searchVersion: 1, origin: "client" },
  });
  const answer = await gateway.call("POST", operations, {
    body: { operations: [proposal], restsOn: 0 },
  });
  expect(answer).toMatchObject({
    status: 409,
    body: {
      code: "search_moved_on",
      errors: [
        { path: "version 1", detail: "SearchStarted" },
        { path: "version 2", detail: "TrialProposed of trial 1" },
      ],
    },
  });
});

test("an operation of an unknown kind, or for an unknown experiment, is refused", async () => {
  const wrong = { operations: [{ id: "a", propose: 3 }] };
  expect(await gateway.call("POST", operations, { body: wrong })).toMatchObject({
    status: 400,
    body: { code: "invalid_request" },
  });
  const nowhere = "/api/v1/experiments/x/search/operations";
  expect((await gateway.call("POST", nowhere, { body: {} })).status).toBe(404);
  const events = await gateway.call("GET", "/api/v1/experiments/9/search/events");
  expect(events).toMatchObject({ status: 404, body: { code: "experiment_not_found" } });
});

/** Returns the versions and types of the search's events from a stream that ends. */
async function watched(query: string, headers: Readonly<Record<string, string>> = {}) {
  const { body } = await gateway.call("GET", `/api/v1/experiments/1/search/events${query}`, {
    headers,
  });
  const text = String(body["text"]);
  const data = [...text.matchAll(/^id: (\d+)\ndata: (.*)$/gm)].map(([, id = "", event = ""]) => {
    const { streamversion, type } = JSON.parse(event) as { streamversion: string; type: string };
    expect(id).toBe(streamversion);
    return `${streamversion} ${type.split(".")[3]}`;
  });
  return { events: data, ended: text.includes("event: end") };
}

test("a search's events are streamed with their versions, from any version on", async () => {
  const all = ["1 SearchStarted", "2 TrialProposed"];
  expect(await watched("?noFollow=true")).toEqual({ events: all, ended: true });
  expect((await watched("?noFollow=true&after=1")).events).toEqual(all.slice(1));
  const back = { "last-event-id": "1" };
  expect((await watched("?noFollow=true&after=7", back)).events).toEqual(all.slice(1));
});

test("a custom search shows which operations it waits for, and its client's progress", async () => {
  const get = async (position: number) =>
    (await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`)).body;
  const value = { progress: 0.25 };
  const told = await gateway.append(
    "search-1",
    {
      type: "TrialSuspended",
      data: { trial: 1, rung: 0, rule: "target_reached" },
    },
    {
      type: "OperationsPosted",
      data: { operations: [{ id: "p", operation: { case: "progress", value } }] },
    },
  );
  expect(await get(told)).toMatchObject({
    progress: 0.25,
    waitsFor: "operations of the search's client (no trial runs, 1 suspended)",
  });
  const resumed = await gateway.append("search-1", {
    type: "TrialResumed",
    data: { trial: 1, target: 9, rung: 0, rule: "client" },
  });
  expect(await get(resumed)).toMatchObject({ waitsFor: "" });
});

test("a follower of a search gets its end, also if it starts after the end", async () => {
  const following = watched("?after=4");
  await gateway.append("search-1", {
    type: "SearchCompleted",
    data: { reason: SearchCompletion.EXHAUSTED },
  });
  const last = { events: ["5 TrialResumed", "6 SearchCompleted"], ended: true };
  expect(await following).toEqual(last);
  expect(await watched("?after=6")).toEqual({ events: [], ended: true });
});
