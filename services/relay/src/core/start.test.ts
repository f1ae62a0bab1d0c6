import { expect, test } from "vitest";
import { refillAfter, whereToStart } from "./start.ts";

const last = { position: 7, id: "event-7", log: "event-1" };

test("an empty stream is refilled", () => {
  expect(whereToStart(null, { first: null, atLast: null })).toEqual({ kind: "refill" });
});

test("a stream whose last event is in the log is resumed after it", () => {
  expect(whereToStart(last, { first: "event-1", atLast: "event-7" })).toEqual({
    kind: "resume",
    after: 7,
  });
});

test("a log that ends before the stream's last event counts as rewound", () => {
  expect(whereToStart(last, { first: "event-1", atLast: null })).toMatchObject({
    kind: "rewound",
    isThisLog: true,
    detail:
      "the stream's last event is event-7 at position 7, but the log ends before it: the log went back, and the stream is filled from it again as a new epoch",
  });
});

test("a log with another event at that position counts as rewound", () => {
  expect(whereToStart(last, { first: "event-1", atLast: "event-7b" })).toMatchObject({
    kind: "rewound",
  });
});

test("a stream of another log is reported as such", () => {
  expect(whereToStart(last, { first: "event-1b", atLast: "event-7b" })).toMatchObject({
    kind: "rewound",
    isThisLog: false,
    detail: expect.stringMatching(
      /^the stream belongs to the log that began with event event-1, and this log began with event-1b: /,
    ),
  });
});

test("a stream without the id of its log is judged by its last event", () => {
  const unnamed = { ...last, log: "" };
  expect(whereToStart(unnamed, { first: "event-1", atLast: "event-7" })).toMatchObject({
    kind: "resume",
  });
});

// Event n has the time n * 10.
const timeAt = async (position: number): Promise<number> => position * 10;

test.each([
  { head: 0, eventsMax: 10, oldestMs: 0, after: 0 },
  { head: 5, eventsMax: 10, oldestMs: 0, after: 0 },
  { head: 100, eventsMax: 10, oldestMs: 0, after: 90 },
  { head: 100, eventsMax: 1000, oldestMs: 995, after: 99 },
  { head: 100, eventsMax: 1000, oldestMs: 505, after: 50 },
  { head: 100, eventsMax: 1000, oldestMs: 500, after: 49 },
  { head: 100, eventsMax: 1000, oldestMs: 1001, after: 100 },
])("a refill of %j starts after $after", async ({ head, eventsMax, oldestMs, after }) => {
  expect(await refillAfter(head, eventsMax, oldestMs, timeAt)).toBe(after);
});
