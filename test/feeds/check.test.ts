import { expect, test } from "vitest";
import { violationsOf } from "./check.ts";

const event = (sequence: number, stream = "experiment-1") => ({
  sequence,
  id: `id-${sequence}`,
  stream,
});
const [first, other, second] = [event(1), event(2, "pool-a"), event(3)];
const truth = { all: [first, other, second], selected: [first, second] };

test.each([
  ["a pull reader that repeats a part", "pull", [first, second, first, second], []],
  ["a reader that lost an event", "pull", [second], ["it lost 1 events, at 1"]],
  [
    "an event that is not selected",
    "nats",
    [first, other, second],
    ["it got from elsewhere 1 events, at 2"],
  ],
  ["a wrong order", "nats", [second, first], ["it got out of order 1 events, at 1"]],
  ["another order of two streams of Kafka", "kafka", [other, first, second], []],
  [
    "a wrong order of one stream of Kafka",
    "kafka",
    [second, first, other],
    ["it got out of order 1 events, at 1"],
  ],
  [
    "a repeat after the rule for Kafka",
    "kafka",
    [first, other, second, second],
    ["it dealt twice with 1 events"],
  ],
  ["a webhook in another order with a repeat", "webhook", [second, first, first], []],
  ["an event behind the end that was read", "pull", [first, second, event(9)], []],
] as const)("the check of %s finds what is wrong", (_, kind, read, violations) => {
  expect(violationsOf("it", kind, read, truth)).toEqual(violations);
});
