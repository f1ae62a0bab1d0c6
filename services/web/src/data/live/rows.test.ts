import { expect, test } from "vitest";
import type { TopicFrame } from "./protocol.ts";
import { patched, type RowOrder } from "./rows.ts";

/** A frame has the whole document; these have only the fields that the tests need. */
const change = (id: string, fields: object): TopicFrame =>
  ({
    case: "change",
    value: { topic: "t", id, document: { case: "experiment", value: { id, ...fields } } },
  }) as unknown as TopicFrame;
const gone = (id: string): TopicFrame => ({ case: "gone", value: { topic: "t", id } });

const page = (ids: readonly number[], nextPageToken = "") => ({
  items: ids.map((id) => ({ id: String(id), state: "ACTIVE", createdAtMs: id })),
  nextPageToken,
});

test("a changed document replaces its row, and the other rows stay the same objects", () => {
  const list = page([3, 2, 1]);
  const { answer } = patched(list, change("2", { state: "ERROR", createdAtMs: 2 }));
  const { items } = answer as typeof list;
  expect(items.map(({ state }) => state)).toEqual(["ACTIVE", "ERROR", "ACTIVE"]);
  expect(items[0]).toBe(list.items[0]);
  expect(list.items[1]?.state).toBe("ACTIVE");
});

test("a document that no longer belongs to the list is removed from it, on whichever page it is", () => {
  const list = { pages: [page([4, 3], "more"), page([2, 1])], pageParams: ["", "more"] };
  const { answer } = patched(list, gone("2"));
  const { pages } = answer as typeof list;
  expect(pages.map(({ items }) => items.map(({ id }) => id))).toEqual([["4", "3"], ["1"]]);
});

test("in a list of many pages only the page with the changed row is a new object", () => {
  const list = { pages: [page([4, 3], "more"), page([2, 1])], pageParams: ["", "more"] };
  const { answer } = patched(list, change("2", { state: "ERROR", createdAtMs: 2 }));
  const { pages } = answer as typeof list;
  expect(pages[0]).toBe(list.pages[0]);
  expect(pages[1]?.items.map(({ state }) => state)).toEqual(["ERROR", "ACTIVE"]);
});

test("a newer row is new, and a row after the last loaded page is not", () => {
  const loaded = page([9, 8], "more");
  expect(patched(loaded, change("10", { createdAtMs: 10 })).isNew).toBe(true);
  expect(patched(loaded, change("2", { createdAtMs: 2 })).isNew).toBe(false);
  expect(patched(page([9, 8]), change("2", { createdAtMs: 2 })).isNew).toBe(true);
  expect(patched(loaded, gone("10")).isNew).toBe(false);
});

test("a document keeps fields that frames leave out, and is read again for them", () => {
  const document = { id: "1", state: "ACTIVE", config: { name: "a" }, waitsFor: "x" };
  expect(patched(document, change("1", { state: "PAUSED", config: undefined }))).toEqual({
    answer: { id: "1", state: "PAUSED", config: { name: "a" }, waitsFor: "x" },
    isNew: false,
    readAgain: true,
  });
});

test("a row keeps its values, and the best value of the metric is taken from the frame", () => {
  const row = { id: "1", createdAtMs: 1, values: { "hparams.lr": 0.1, "metrics.loss": 3 } };
  const list = { items: [row], nextPageToken: "" };
  const { answer } = patched(list, change("1", { metric: "loss", bestValue: 2 }));
  expect((answer as typeof list).items[0]?.values).toEqual({
    "hparams.lr": 0.1,
    "metrics.loss": 2,
  });
});

test("an agent is identified by its name", () => {
  const list = { items: [{ name: "a1", state: "CONNECTED" }], nextPageToken: "" };
  const { answer } = patched(list, change("a1", { name: "a1", state: "LOST" }));
  expect((answer as typeof list).items[0]?.state).toBe("LOST");
});

test("a new row takes its place in the order of creation, and the other pages do not change", () => {
  const newest = { pages: [{ ...page([9, 7], "more"), total: 9 }, page([5, 4], "more")] };
  const placed = (answer: unknown, id: number, order: RowOrder) => {
    const frame = change(String(id), { createdAtMs: id });
    const { answer: next, isNew } = patched(answer, frame, order);
    const { pages } = next as { pages: readonly { items: { id: string }[]; total?: number }[] };
    return { pages, isNew, ids: pages.map(({ items }) => items.map((row) => Number(row.id))) };
  };
  const first = placed(newest, 10, "newest first");
  expect(first).toMatchObject({
    ids: [
      [10, 9, 7],
      [5, 4],
    ],
    isNew: false,
  });
  expect([first.pages[0]?.total, first.pages[1]]).toEqual([10, newest.pages[1]]);
  expect(placed(newest, 6, "newest first").pages).toBe(newest.pages);
  const whole = { pages: [page([9, 7], "more"), page([5, 4])] };
  expect(placed(whole, 6, "newest first").ids).toEqual([
    [9, 7],
    [6, 5, 4],
  ]);
  const oldest = { pages: [page([1, 2], "more"), page([3, 5])] };
  expect(placed(oldest, 6, "oldest first").ids[1]).toEqual([3, 5, 6]);
  expect(placed(oldest, 4, "oldest first").ids[1]).toEqual([3, 4, 5]);
  const begun = { pages: [page([1, 2], "more")] };
  expect(placed(begun, 6, "oldest first").pages).toBe(begun.pages);
});

test("a comparison is read again when one of its experiments changes or is gone, and not for others", () => {
  const answer = { trials: [{ id: "3.1" }], experiments: [{ id: "3" }], metrics: [], gone: [] };
  const changed = patched(answer, change("3", { trials: 2 }));
  expect(changed).toEqual({ answer, isNew: false, readAgain: true });
  expect(patched(answer, gone("3")).readAgain).toBe(true);
  expect(patched(answer, change("4", {}))).toEqual({ answer, isNew: false, readAgain: false });
});
