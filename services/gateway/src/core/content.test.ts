import { expect, test } from "vitest";
import { type ContentEvent, contentDecider } from "./content.ts";

const { initial, decide, evolve } = contentDecider;

function after(...types: readonly ContentEvent["type"][]) {
  return types.reduce((state, type) => evolve(state, { type, data: {} }), initial);
}

const started = "ContentDeletionStarted";
const typesOf = (decided: ReturnType<typeof decide>) =>
  "rejected" in decided ? decided.rejected : decided.map(({ type }) => type);

test("one deletion of content is under way at a time", () => {
  expect(typesOf(decide(initial, { kind: "start" }))).toEqual([started]);
  expect(decide(after(started), { kind: "start" })).toEqual([]);
});

test("content is spared or deleted by the attempt that is under way, and by no earlier one", () => {
  const first = after(started);
  expect(typesOf(decide(first, { kind: "spare", attempt: 1 }))).toEqual(["ContentSpared"]);
  expect(typesOf(decide(first, { kind: "delete", attempt: 1 }))).toEqual(["ContentDeleted"]);
  const second = after(started, "ContentSpared", started);
  expect(decide(second, { kind: "delete", attempt: 1 })).toEqual([]);
  expect(typesOf(decide(second, { kind: "delete", attempt: 2 }))).toEqual(["ContentDeleted"]);
});

test("a decided deletion is not decided again, and each deletion counts", () => {
  const deleted = after(started, "ContentDeleted");
  expect(decide(deleted, { kind: "delete", attempt: 1 })).toEqual([]);
  expect(deleted).toEqual({ deletions: 1, attempts: 1, deleting: false });
});
