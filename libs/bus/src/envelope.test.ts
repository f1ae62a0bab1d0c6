import type { StoredEvent } from "@trainyard/event-log";
import fc from "fast-check";
import { expect, test } from "vitest";
import { eventAt } from "./contract/fixture.ts";
import { eventOfHeaders, headersOfEvent, subjectOfEvent } from "./envelope.ts";

const text = fc.string({ unit: "binary" });
const someText = fc.string({ unit: "binary", minLength: 1 });
const count = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

const anyEvent: fc.Arbitrary<StoredEvent> = fc.record({
  position: count,
  stream: someText,
  version: count,
  id: someText,
  type: someText,
  timeMs: fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }),
  commitId: text,
  meta: fc.record({
    source: text,
    workspace: text,
    correlationid: text,
    causationid: text,
    authid: text,
    traceparent: text,
  }),
  body: text,
});

const readBack = (event: StoredEvent): StoredEvent => {
  return eventOfHeaders(headersOfEvent(event), event.body);
};

test("every event survives the conversion to headers and body and back", () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      expect(readBack(event)).toEqual(event);
    }),
  );
});

test("an event's headers are those of CloudEvents in binary mode", () => {
  const event = eventAt(42, {
    stream: "trial-12.3",
    timeMs: Date.UTC(2026, 10, 21, 14, 0, 0, 7),
    meta: { ...eventAt(42).meta, workspace: "", authid: "Jörg" },
  });
  expect(Object.fromEntries(headersOfEvent(event))).toEqual({
    "ce-specversion": "1.0",
    "ce-id": event.id,
    "ce-source": "/trainyard/experiments",
    "ce-type": "dev.trainyard.trial.TrialCreated.v1",
    "ce-subject": "trial-12.3",
    "ce-time": "2026-11-21T14:00:00.007Z",
    "ce-sequence": "42",
    "ce-correlationid": "correlation-42",
    "ce-causationid": event.meta.causationid,
    "ce-authid": "J%C3%B6rg",
    "ce-traceparent": event.meta.traceparent,
    "content-type": "application/json",
    "Ty-Stream-Version": "1",
    "Ty-Commit-Id": event.commitId,
  });
});

test("an event's subject names the aggregate, the id as one token, and the event", () => {
  const event = eventAt(1, {
    stream: "allocation-12.3#2",
    type: "dev.trainyard.allocation.AllocationGranted.v1",
  });
  expect(subjectOfEvent(event)).toBe("ty.event.allocation.12%2E3%232.AllocationGranted");
});

test("a message that is no event causes a Fault that is never retried", () => {
  expect(() => eventOfHeaders(new Map(), "{}")).toThrow(
    expect.objectContaining({ code: "not_an_event", retry: "never" }),
  );
});
