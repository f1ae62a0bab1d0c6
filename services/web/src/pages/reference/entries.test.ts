import { describe, expect, test } from "vitest";
import { type AsyncApi, callEntries, type Entry, eventEntries, matching } from "./entries.ts";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (name: string, example?: unknown) => ({
  "application/json": { schema: ref(name), example },
});
const text = { type: "string" };

const calls = callEntries({
  paths: {
    "/api/v1/jobs/{job}/move": {
      post: {
        ...{ operationId: "JobService_MoveJob", summary: "Move job", tags: ["JobService"] },
        description: "Moves a job.",
        parameters: [
          { name: "job", in: "path", schema: text, example: "1" },
          { name: "Idempotency-Key", in: "header", schema: text },
        ],
        requestBody: { content: json("MoveJobRequest", { anchor: "it's 2" }) },
        responses: { "200": { content: json("Job") } },
      },
    },
    "/api/v1/jobs": {
      get: {
        ...{ operationId: "JobService_ListJobs", summary: "List jobs", tags: ["JobService"] },
        parameters: [{ name: "labels", in: "query", schema: text, example: ["a", "b c"] }],
        responses: { "200": { content: json("ListJobsResponse") } },
      },
    },
  },
  components: {
    schemas: {
      Job: { properties: { state: { description: "The state.", enum: ["OPEN", "ENDED"] } } },
      ListJobsResponse: { properties: { items: { type: "array", items: ref("Job") } } },
      MoveJobRequest: { properties: { job: text, anchor: text } },
    },
  },
});

const payload = { type: "object", properties: { id: { description: "An id.", ...text } } };
const asyncapi: AsyncApi = {
  channels: {
    events: {
      ...{ address: "/api/v1/events", description: "All events." },
      messages: { Ended: { $ref: "#/components/messages/Ended" } },
    },
    feed: {
      ...{
        address: "ty.feed.{name}",
        description: "Events.",
        servers: [{ $ref: "#/servers/nats" }],
      },
      parameters: { name: { description: "A name." } },
      messages: { NatsEvent: { $ref: "#/components/messages/NatsEvent" } },
    },
  },
  components: {
    messages: {
      Ended: { name: "dev.Ended.v1", payload },
      NatsEvent: { headers: { properties: { "ce-id": text } }, payload },
    },
    schemas: {
      Ended: { ...payload, examples: [{ id: "7" }] },
      Part: payload,
    },
  },
};

const entryOf = (entries: readonly Entry[], id: string) => entries.find((one) => one.id === id);
const fieldOf = (entries: readonly Entry[], id: string, name: string) =>
  entryOf(entries, id)
    ?.tables.flatMap(({ fields }) => fields)
    .find((field) => field.name === name);

describe("the entries of calls", () => {
  test("have path, parameters, body and answer, with a command line as the example", () => {
    const move = entryOf(calls, "JobService_MoveJob");
    expect(move).toMatchObject({ group: "Job", badge: "POST", title: "/api/v1/jobs/{job}/move" });
    expect(move?.tables.map(({ caption }) => caption)).toEqual([
      ...["Parameters", "Headers", "Body"],
      "Answer: Job (application/json)",
    ]);
    expect(move?.tables[2]?.fields.map(({ name }) => name)).toEqual(["anchor"]);
    expect(move?.example).toContain(`-d '{"anchor":"it'\\''s 2"}'`);
    expect(move?.example).toContain('"$TRAINYARD_URL/api/v1/jobs/1/move"');
    const list = entryOf(calls, "JobService_ListJobs");
    expect(list?.example).toContain('"$TRAINYARD_URL/api/v1/jobs?labels=a&labels=b+c"');
  });

  test("link the messages of their fields, which have entries", () => {
    const items = fieldOf(calls, "JobService_ListJobs", "items");
    expect(items).toMatchObject({ type: "list of Job", message: "Job" });
    expect(entryOf(calls, "Job")).toMatchObject({ group: "Messages" });
    expect(fieldOf(calls, "Job", "state")?.comment).toBe("The state. One of OPEN, ENDED.");
  });
});

test("the entries of events are the channels, each type with its body, and the other messages", () => {
  const events = eventEntries(asyncapi);
  expect(events.map(({ id }) => id)).toEqual(["channel-events", "channel-feed", "Ended", "Part"]);
  expect(entryOf(events, "channel-feed")).toMatchObject({ badge: "nats", title: "ty.feed.{name}" });
  expect(fieldOf(events, "channel-feed", "ce-id")).toMatchObject({ type: "string" });
  const ended = entryOf(events, "Ended");
  expect(ended).toMatchObject({ group: "Events", words: "dev.Ended.v1" });
  expect(ended?.example).toContain('"id": "7"');
});

test("a search keeps the entries that have all of its words", () => {
  const found = matching(calls, "post jobs").map(({ title }) => title);
  expect(found).toEqual(["/api/v1/jobs/{job}/move"]);
  expect(matching(calls, " ")).toHaveLength(calls.length);
});
