import { expect, test } from "vitest";
import { type ContentEvent, contentDecider } from "./content.ts";

const { initial, decide, evolve } = contentDecider;

function after(...types: readonly ContentEvent["type"][]) {
  return types.reduce((state, type) => evolve(state, { type, data: {} }), initial);
}

const started = "ContentDeletionStarted";
const typesOf = (decided: ReturnType<typeof decide>) =>
  "rejected" in decided ? decided.rejected : decided.map(({ type }) => type);

test("a deletion of content starts only if none is under way", () => {
  expect(typesOf(decide(initial, { kind: "start" }))).toEqual([started]);
  expect(decide(after(started), { kind: "start" })).toEqual([]);
});

test("only the latest attempt can spare or delete content", () => {
  const first = after(started);
  expect(typesOf(decide(first, { kind: "spare", attempt: 1 }))).toEqual(["ContentSpared"]);
  expect(typesOf(decide(first, { kind: "delete", attempt: 1 }))).toEqual(["ContentDeleted"]);
  const second = after(started, "ContentSpared", started);
  expect(decide(second, { kind: "delete", attempt: 1 })).toEqual([]);
  expect(typesOf(decide(second, { kind: "delete", attempt: 2 }))).toEqual(["ContentDeleted"]);
});

test("a deletion is recorded once, and is counted", () => {
  const deleted = after(started, "ContentDeleted");
  expect(decide(deleted, { kind: "delete", attempt: 1 })).toEqual([]);
  expect(deleted).toEqual({ deletions: 1, attempts: 1, deleting: false });
});
