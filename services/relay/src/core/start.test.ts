import { expect, test } from "vitest";
import { refillAfter, whereToStart } from "./start.ts";

const last = { position: 7, id: "event-7", log: "event-1" };

test("an empty stream is refilled", () => {
  expect(whereToStart(null, { first: null, atLast: null })).toEqual({ kind: "refill" });
});

test("a stream whose last event the log has is gone on with", () => {
  expect(whereToStart(last, { first: "event-1", atLast: "event-7" })).toEqual({
    kind: "resume",
    after: 7,
  });
});

test("a log that ends before the stream's last event was rewound", () => {
  expect(whereToStart(last, { first: "event-1", atLast: null })).toMatchObject({
    kind: "rewound",
    detail:
      "the stream's last event is event-7 at position 7, but the log ends before it: the log went back, and the stream is filled from it again as a new epoch",
  });
});

test("a log with another event at that position was rewound and has gone on since", () => {
  expect(whereToStart(last, { first: "event-1", atLast: "event-7b" })).toMatchObject({
    kind: "rewound",
  });
});

test("a stream of another log is reported as that", () => {
  expect(whereToStart(last, { first: "event-1b", atLast: "event-7b" })).toMatchObject({
    kind: "rewound",
    detail: expect.stringMatching(
      /^the stream belongs to the log that began with event event-1, and this log began with event-1b: /,
    ),
  });
});

test("a stream that does not say whose it is counts by its last event", () => {
  const unnamed = { ...last, log: "" };
  expect(whereToStart(unnamed, { first: "event-1", atLast: "event-7" })).toMatchObject({
    kind: "resume",
  });
});

// Event n happened at n * 10.
const timeAt = async (position: number): Promise<number> => position * 10;

test.each([
  { head: 0, eventsMax: 10, oldestMs: 0, after: 0 },
  { head: 5, eventsMax: 10, oldestMs: 0, after: 0 },
  { head: 100, eventsMax: 10, oldestMs: 0, after: 90 },
  { head: 100, eventsMax: 1000, oldestMs: 995, after: 99 },
  { head: 100, eventsMax: 1000, oldestMs: 505, after: 50 },
  { head: 100, eventsMax: 1000, oldestMs: 500, after: 49 },
  { head: 100, eventsMax: 1000, oldestMs: 1001, after: 100 },
])("a refill of %j begins behind $after", async ({ head, eventsMax, oldestMs, after }) => {
  expect(await refillAfter(head, eventsMax, oldestMs, timeAt)).toBe(after);
});
